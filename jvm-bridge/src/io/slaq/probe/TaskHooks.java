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
import org.apache.xbean.asm9.tree.LdcInsnNode;
import org.apache.xbean.asm9.tree.MethodInsnNode;
import org.apache.xbean.asm9.tree.MethodNode;
import org.apache.xbean.asm9.tree.VarInsnNode;

/** Losses that Spark's driver never sees: they are summed in the tasks of the training itself. */
final class TaskHooks {
  private static final String RDD = "Lorg/apache/spark/rdd/RDD;";
  private static final String LOSS = "org/apache/spark/mllib/tree/loss/Loss";
  private static final String SOLVER = "org/apache/spark/ml/recommendation/ALS$LeastSquaresNESolver";
  private static final String GRAPH = "org/apache/spark/graphx/Graph";

  private TaskHooks() {}

  static List<Hook> all() {
    return List.of(
        new Hook("als", "org/apache/spark/ml/recommendation/ALS$", 1, TaskHooks::factors),
        new Hook("boosting", "org/apache/spark/ml/tree/impl/GradientBoostedTrees$", 3, TaskHooks::boosting),
        new Hook("lda em", "org/apache/spark/mllib/clustering/EMLDAOptimizer", 1, TaskHooks::topics),
        new Hook("word2vec", "org/apache/spark/mllib/feature/Word2Vec", 1, TaskHooks::sentences));
  }

  private static int factors(MethodNode method) {
    int blocks = Code.slot(method, RDD, 2);
    int implicit = Code.slot(method, "Z", 0);
    int alpha = Code.slot(method, "D", 1);
    int solver = Code.slot(method, "L" + SOLVER + ";", 0);
    if (!method.name.equals("computeFactors") || Math.min(Math.min(blocks, implicit), Math.min(alpha, solver)) < 0) {
      return 0;
    }
    InsnList counting = list(load(solver), load(blocks));
    counting.add(call(Als.class, "solver", "(Ljava/lang/Object;" + RDD + ")Ljava/lang/Object;"));
    InsnList summed = list(load(blocks), new VarInsnNode(Opcodes.ILOAD, implicit), new VarInsnNode(Opcodes.DLOAD, alpha));
    summed.add(call(Als.class, "ratings", "(" + RDD + "ZD)Ljava/lang/Object;"));
    // Inserted at the head, hence in reverse: the solver comes first.
    method.instructions.insert(Code.assign(summed, "org/apache/spark/rdd/RDD", blocks));
    method.instructions.insert(Code.assign(counting, SOLVER, solver));
    return 1;
  }

  private static int boosting(MethodNode method) {
    if (method.name.equals("boost")) {
      return boostingEnd(method);
    }
    int loss = Code.slot(method, "L" + LOSS + ";", 0);
    boolean wanted = method.name.equals("computeInitialPredictionAndError") || method.name.equals("updatePredictionError");
    if (!wanted || loss < 0 || Code.slot(method, RDD, 0) != 1) {
      return 0;
    }
    for (AbstractInsnNode exit : Code.find(method, Code::isReturn)) {
      method.instructions.insertBefore(
          exit, list(op(Opcodes.DUP), load(1), op(Opcodes.SWAP), call(Boosting.class, "errors", "(" + RDD + RDD + ")V")));
    }
    InsnList counting = list(load(1), load(loss));
    counting.add(call(Boosting.class, "counting", "(" + RDD + "Ljava/lang/Object;)Ljava/lang/Object;"));
    method.instructions.insert(Code.assign(counting, LOSS, loss));
    return 1;
  }

  /** Before the clock named "total" is stopped: the trees are built and nothing is unpersisted yet. */
  private static int boostingEnd(MethodNode method) {
    int found = 0;
    for (AbstractInsnNode stop : Code.find(method, i -> isCall(i, "org/apache/spark/ml/tree/impl/TimeTracker", "stop"))) {
      AbstractInsnNode name = stop.getPrevious();
      if (name instanceof LdcInsnNode && "total".equals(((LdcInsnNode) name).cst)) {
        method.instructions.insertBefore(stop, call(Boosting.class, "finished", "()V"));
        found++;
      }
    }
    return found;
  }

  private static int topics(MethodNode method) {
    List<AbstractInsnNode> passes = Code.find(method, i -> isCall(i, GRAPH, "aggregateMessages"));
    if (!method.name.equals("next") || passes.size() != 1) {
      return 0;
    }
    MethodInsnNode pass = (MethodInsnNode) passes.get(0);
    String descriptor = "(L" + GRAPH + ";" + pass.desc.substring(1).replace(")", "Ljava/lang/Object;)");
    method.instructions.insertBefore(pass, load(0));
    method.instructions.set(pass, call(TopicPosterior.class, "aggregate", descriptor));
    for (AbstractInsnNode exit : Code.find(method, Code::isReturn)) {
      method.instructions.insertBefore(exit, call(TopicPosterior.class, "iterated", "()V"));
    }
    return 1;
  }

  private static int sentences(MethodNode method) {
    int input = Code.slot(method, "[F", 0);
    int inner = Code.slot(method, "[F", 1);
    List<AbstractInsnNode> passes = Code.find(method, i -> isCall(i, "org/apache/spark/rdd/RDD", "mapPartitionsWithIndex"));
    if (!method.name.startsWith("$anonfun$doFit$") || input < 0 || inner < 0 || passes.size() != 1) {
      return 0;
    }
    MethodInsnNode pass = (MethodInsnNode) passes.get(0);
    method.instructions.set(pass, call(SkipGram.class, "partitions", "(" + RDD + pass.desc.substring(1)));
    for (AbstractInsnNode exit : Code.find(method, Code::isReturn)) {
      InsnList report = list(load(0), load(input), load(inner));
      report.add(call(SkipGram.class, "iterated", "(Ljava/lang/Object;[F[F)V"));
      method.instructions.insertBefore(exit, report);
    }
    return 1;
  }
}
