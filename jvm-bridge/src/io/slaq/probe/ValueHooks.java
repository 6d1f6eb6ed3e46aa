package io.slaq.probe;

import static io.slaq.probe.Code.call;
import static io.slaq.probe.Code.isCall;
import static io.slaq.probe.Code.list;
import static io.slaq.probe.Code.load;
import static io.slaq.probe.Code.op;

import java.util.List;
import org.apache.xbean.asm9.Opcodes;
import org.apache.xbean.asm9.tree.AbstractInsnNode;
import org.apache.xbean.asm9.tree.InsnList;
import org.apache.xbean.asm9.tree.MethodNode;
import org.apache.xbean.asm9.tree.VarInsnNode;

/** Losses that Spark's driver computes or holds anyway: the hook reads them, no Spark work is added. */
final class ValueHooks {
  private static final String MLLIB = "org/apache/spark/mllib/";
  private static final String OBJECT_TO_VOID = "(Ljava/lang/Object;)V";
  private static final String OBJECTS_TO_VOID = "(Ljava/lang/Object;Ljava/lang/Object;)V";
  private static final String STATE = "Lbreeze/optimize/FirstOrderMinimizer$State;";

  private ValueHooks() {}

  static List<Hook> all() {
    return List.of(
        new Hook("breeze", "breeze/optimize/FirstOrderMinimizer", 2, ValueHooks::iterations),
        new Hook("sgd", MLLIB + "optimization/GradientDescent$", 1, ValueHooks::miniBatch),
        new Hook("kmeans row", MLLIB + "clustering/KMeans", 1, m -> cost(m, "runAlgorithmWithWeight")),
        new Hook("kmeans block", "org/apache/spark/ml/clustering/KMeans", 1, m -> cost(m, "trainWithBlock")),
        new Hook("bisecting kmeans", MLLIB + "clustering/BisectingKMeans", 2, ValueHooks::summarized),
        new Hook("gaussian mixture ml", "org/apache/spark/ml/util/Instrumentation", 1, ValueHooks::namedValue),
        new Hook("gaussian mixture mllib", MLLIB + "clustering/GaussianMixture", 1, ValueHooks::expectation),
        new Hook("power iteration", MLLIB + "clustering/PowerIterationClustering$", 1, ValueHooks::delta),
        new Hook("streaming kmeans", MLLIB + "clustering/StreamingKMeansModel", 1, ValueHooks::pointStats),
        new Hook("least squares summary", "org/apache/spark/ml/optim/WeightedLeastSquares$Aggregator", 1,
            m -> m.name.equals("validate") ? insertHead(m, LeastSquares.class, "summary") : 0),
        new Hook("least squares", "org/apache/spark/ml/optim/WeightedLeastSquares", 1, ValueHooks::solved),
        new Hook("irls", "org/apache/spark/ml/optim/IterativelyReweightedLeastSquares", 1, ValueHooks::reweighted),
        new Hook("lda online", MLLIB + "clustering/OnlineLDAOptimizer", 1, ValueHooks::topicBatch));
  }

  /**
   * The initial state and every state the iterator yields. The constructor of State would be one place instead of two,
   * but OWL-QN also copies the state to choose a direction, and each copy would count as an iteration.
   */
  private static int iterations(MethodNode method) {
    if (method.name.equals("infiniteIterations")) {
      int state = Code.slot(method, STATE, 0);
      method.instructions.insert(list(load(state), call(Losses.class, "state", OBJECT_TO_VOID)));
      return state < 0 ? 0 : 1;
    }
    if (!method.name.startsWith("$anonfun$infiniteIterations$") || !method.desc.endsWith(")" + STATE)) {
      return 0;
    }
    return before(method, Code.find(method, Code::isReturn), () ->
        list(op(Opcodes.DUP), call(Losses.class, "state", OBJECT_TO_VOID)));
  }

  /** The loss being boxed to be appended to the history, told from other boxed numbers by the append after it. */
  private static int miniBatch(MethodNode method) {
    if (!method.name.equals("runMiniBatchSGD")) {
      return 0;
    }
    return before(method, Code.find(method, i ->
            isCall(i, "scala/runtime/BoxesRunTime", "boxToDouble")
                && isCall(i.getNext(), "scala/collection/mutable/ArrayBuffer", "$plus$eq")), () ->
        list(op(Opcodes.DUP2), call(Losses.class, "objective", "(D)V")));
  }

  private static int cost(MethodNode method, String name) {
    if (!method.name.equals(name)) {
      return 0;
    }
    return before(method, Code.find(method, i -> Code.isPut(i, "scala/runtime/DoubleRef", "elem")), () ->
        list(op(Opcodes.DUP2), call(Losses.class, "cost", "(D)V")));
  }

  private static int summarized(MethodNode method) {
    return after(method, Code.find(method, i ->
            isCall(i, "org/apache/spark/mllib/clustering/BisectingKMeans$",
                "org$apache$spark$mllib$clustering$BisectingKMeans$$summarize")), () ->
        list(op(Opcodes.DUP), call(Clusters.class, "summarized", OBJECT_TO_VOID)));
  }

  private static int namedValue(MethodNode method) {
    if (!method.name.equals("logNamedValue") || !method.desc.equals("(Ljava/lang/String;D)V")) {
      return 0;
    }
    method.instructions.insert(
        list(load(1), new VarInsnNode(Opcodes.DLOAD, 2), call(Losses.class, "named", "(Ljava/lang/String;D)V")));
    return 1;
  }

  private static int expectation(MethodNode method) {
    if (!method.name.equals("run")) {
      return 0;
    }
    return after(method, Code.find(method, i ->
            isCall(i, "org/apache/spark/mllib/clustering/ExpectationSum", "logLikelihood")), () ->
        list(op(Opcodes.DUP2), call(Losses.class, "logLikelihood", "(D)V")));
  }

  /** Two numbers are stored per iteration: the change of the change, then, last, the change itself. */
  private static int delta(MethodNode method) {
    if (!method.name.startsWith("$anonfun$powerIter$")) {
      return 0;
    }
    List<AbstractInsnNode> stores = Code.find(method, i -> Code.isPut(i, "scala/runtime/DoubleRef", "elem"));
    return stores.size() != 2
        ? 0
        : before(method, stores.subList(1, 2), () ->
            list(op(Opcodes.DUP2), call(Losses.class, "delta", "(D)V")));
  }

  private static int pointStats(MethodNode method) {
    if (!method.name.equals("update")) {
      return 0;
    }
    return after(method, Code.find(method, i -> isCall(i, "org/apache/spark/rdd/RDD", "collect")), () ->
        list(op(Opcodes.DUP), load(0), call(Clusters.class, "batch", OBJECTS_TO_VOID)));
  }

  /** Constant labels return early, so there may be several returns: they count as one place. */
  private static int solved(MethodNode method) {
    if (!method.name.equals("fit")) {
      return 0;
    }
    int returns = before(method, Code.find(method, Code::isReturn), () ->
        list(op(Opcodes.DUP), call(LeastSquares.class, "solved", OBJECT_TO_VOID)));
    return Math.min(returns, 1);
  }

  private static int reweighted(MethodNode method) {
    if (!method.name.equals("fit")) {
      return 0;
    }
    return after(method, Code.find(method, i ->
            isCall(i, "org/apache/spark/ml/optim/WeightedLeastSquares", "fit")), () ->
        list(op(Opcodes.DUP), load(0), call(LeastSquares.class, "step", OBJECTS_TO_VOID)));
  }

  private static int topicBatch(MethodNode method) {
    if (!method.name.equals("updateLambda")) {
      return 0;
    }
    method.instructions.insert(list(load(0), load(1), call(TopicBatch.class, "update", OBJECTS_TO_VOID)));
    return 1;
  }

  private static int insertHead(MethodNode method, Class<?> owner, String name) {
    method.instructions.insert(list(load(0), call(owner, name, OBJECT_TO_VOID)));
    return 1;
  }

  /** Instructions belong to one place only, hence a fresh list for each. */
  private interface Fresh {
    InsnList code();
  }

  private static int before(MethodNode method, List<AbstractInsnNode> places, Fresh fresh) {
    for (AbstractInsnNode place : places) {
      method.instructions.insertBefore(place, fresh.code());
    }
    return places.size();
  }

  private static int after(MethodNode method, List<AbstractInsnNode> places, Fresh fresh) {
    for (AbstractInsnNode place : places) {
      method.instructions.insert(place, fresh.code());
    }
    return places.size();
  }
}
