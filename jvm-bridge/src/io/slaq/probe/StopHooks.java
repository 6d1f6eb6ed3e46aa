package io.slaq.probe;

import static io.slaq.probe.Code.call;
import static io.slaq.probe.Code.isCall;
import static io.slaq.probe.Code.list;
import static io.slaq.probe.Code.load;
import static io.slaq.probe.Code.op;

import java.util.List;
import org.apache.xbean.asm9.Opcodes;
import org.apache.xbean.asm9.tree.AbstractInsnNode;
import org.apache.xbean.asm9.tree.FrameNode;
import org.apache.xbean.asm9.tree.InsnList;
import org.apache.xbean.asm9.tree.JumpInsnNode;
import org.apache.xbean.asm9.tree.LabelNode;
import org.apache.xbean.asm9.tree.MethodNode;
import org.apache.xbean.asm9.tree.VarInsnNode;

/** Where MLlib's loops ask whether to go on. They are put in after all other hooks, whose returns are not theirs. */
final class StopHooks {
  private static final String MLLIB = "org/apache/spark/mllib/";
  private static final String ML = "org/apache/spark/ml/";
  private static final String TUPLE = "Lscala/Tuple2;";

  private StopHooks() {}

  static List<Hook> all() {
    return List.of(
        hook(Loop.BREEZE, 0, "breeze/optimize/FirstOrderMinimizer", 1, StopHooks::minimizer),
        hook(Loop.GRADIENT_DESCENT, 0, MLLIB + "optimization/GradientDescent$", 1, StopHooks::descent),
        hook(Loop.KMEANS, 0, MLLIB + "clustering/KMeans", 1, m -> bound(m, "runAlgorithmWithWeight", "kmeans")),
        hook(Loop.KMEANS, 1, ML + "clustering/KMeans", 1, m -> bound(m, "trainWithBlock", "kmeans")),
        hook(Loop.BISECTING, 0, MLLIB + "clustering/BisectingKMeans", 1, m ->
            m.desc.endsWith(")V") ? skip(m, "$anonfun$runWithWeight$", 1, "skipsBisection") : 0),
        hook(Loop.MIXTURE, 0, ML + "clustering/GaussianMixture", 1, m -> bound(m, "trainImpl", "mixture")),
        hook(Loop.MIXTURE, 1, MLLIB + "clustering/GaussianMixture", 1, StopHooks::likelihood),
        hook(Loop.REWEIGHTING, 0, ML + "optim/IterativelyReweightedLeastSquares", 1, m -> bound(m, "fit", "reweighted")),
        hook(Loop.TOPICS, 0, MLLIB + "clustering/LDA", 1, m -> bound(m, "run", "topics")),
        hook(Loop.TREES, 0, ML + "tree/impl/GradientBoostedTrees$", 3, StopHooks::trees),
        hook(Loop.POWER_ITERATION, 0, MLLIB + "clustering/PowerIterationClustering$", 1, StopHooks::powers),
        hook(Loop.FACTORS, 0, ML + "recommendation/ALS$", 1, m ->
            m.desc.endsWith(")Lorg/apache/spark/rdd/RDD;") ? skip(m, "$anonfun$train$", 1, "skipsFactors") : 0),
        hook(Loop.WORDS, 0, MLLIB + "feature/Word2Vec", 1, m ->
            m.desc.endsWith(")V") && Code.slot(m, "[F", 1) >= 0 ? skip(m, "$anonfun$doFit$", 0, "skipsWords") : 0));
  }

  private static Hook hook(Loop loop, int nth, String target, int places, Hook.Patch patch) {
    return new Hook(loop.hook(nth), target, places, patch);
  }

  /** The predicate that ends the iterator of states. */
  private static int minimizer(MethodNode method) {
    int state = Code.slot(method, "Lbreeze/optimize/FirstOrderMinimizer$State;", 0);
    if (!method.name.equals("$anonfun$iterations$1") || !method.desc.endsWith(")Z") || state < 0) {
      return 0;
    }
    return beforeReturns(method, load(state), "minimized", "(ZLjava/lang/Object;)Z");
  }

  private static int descent(MethodNode method) {
    return method.name.equals("isConverged") ? beforeReturns(method, null, "descended", "(Z)Z") : 0;
  }

  /** The predicate of a for loop: true goes on. */
  private static int powers(MethodNode method) {
    int iteration = Code.slot(method, "I", 0);
    if (!method.name.equals("$anonfun$powerIter$1") || !method.desc.endsWith(")Z") || iteration < 0) {
      return 0;
    }
    return beforeReturns(method, new VarInsnNode(Opcodes.ILOAD, iteration), "powers", "(ZI)Z");
  }

  private static int trees(MethodNode method) {
    if (!method.name.equals("boost")) {
      return 0;
    }
    return bound(method, "boost", "trees") + beforeReturns(method, null, "built", "(" + TUPLE + ")" + TUPLE);
  }

  /** The loop ends when the likelihood has changed by no more than the tolerance. */
  private static int likelihood(MethodNode method) {
    if (!method.name.equals("run")) {
      return 0;
    }
    List<AbstractInsnNode> changes = Code.find(method, i -> isCall(i, "scala/math/package$", "abs"));
    changes.forEach(change -> method.instructions.insert(change, call(Stops.class, "likelihoodChange", "(D)D")));
    return changes.size();
  }

  /** The one comparison of a counter with a bound: the counter stays, the bound is what {@code question} makes of it. */
  private static int bound(MethodNode method, String name, String question) {
    if (!method.name.equals(name)) {
      return 0;
    }
    List<AbstractInsnNode> heads = Code.find(method, i -> i.getOpcode() == Opcodes.IF_ICMPGE);
    for (AbstractInsnNode head : heads) {
      InsnList code = list(op(Opcodes.DUP2), call(Stops.class, question, "(II)I"), op(Opcodes.SWAP), op(Opcodes.POP));
      method.instructions.insertBefore(head, code);
    }
    return heads.size();
  }

  /** Exchange what a method returns, given a second argument if there is one. */
  private static int beforeReturns(MethodNode method, AbstractInsnNode argument, String question, String descriptor) {
    List<AbstractInsnNode> exits = Code.find(method, Code::isReturn);
    for (AbstractInsnNode exit : exits) {
      if (argument != null) {
        method.instructions.insertBefore(exit, argument.clone(null));
      }
      method.instructions.insertBefore(exit, call(Stops.class, question, descriptor));
    }
    return exits.size();
  }

  /** Leave the body of a loop at its head; the n-th int of its parameters counts the iterations. */
  private static int skip(MethodNode method, String name, int nthInt, String question) {
    int iteration = Code.slot(method, "I", nthInt);
    if (!method.name.startsWith(name) || iteration < 0) {
      return 0;
    }
    LabelNode goOn = new LabelNode();
    InsnList code = list(new VarInsnNode(Opcodes.ILOAD, iteration), call(Stops.class, question, "(I)Z"));
    code.add(new JumpInsnNode(Opcodes.IFEQ, goOn));
    code.add(method.desc.endsWith(")V")
        ? list(op(Opcodes.RETURN), goOn)
        : list(op(Opcodes.ACONST_NULL), op(Opcodes.ARETURN), goOn));
    // The locals are still those of the method's head, so the deltas of its later frames hold.
    code.add(new FrameNode(Opcodes.F_SAME, 0, null, 0, null));
    method.instructions.insert(code);
    return 1;
  }
}
