import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.ml.classification.LogisticRegression;
import org.apache.spark.ml.classification.LogisticRegressionModel;
import org.apache.spark.ml.feature.LabeledPoint;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * A jar: a Java (or Scala) application that knows nothing of SLAQ.
 *
 * <pre>
 * javac -cp "$(python -c 'import pyspark; print(pyspark.__path__[0])')/jars/*" -d classes examples/java_app/Train.java
 * jar --create --file train.jar -C classes .
 * slaq submit --master 'local[2]' --class Train train.jar
 * </pre>
 */
public final class Train {
  private Train() {}

  public static void main(String[] args) {
    int iterations = args.length > 0 ? Integer.parseInt(args[0]) : 20;
    SparkSession spark = SparkSession.builder().appName("Java MLlib").getOrCreate();
    Random random = new Random(1);
    List<LabeledPoint> points = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      double[] x = {random.nextGaussian(), random.nextGaussian(), random.nextGaussian()};
      points.add(new LabeledPoint(x[0] - 0.5 * x[1] + random.nextGaussian() > 0 ? 1.0 : 0.0, Vectors.dense(x)));
    }
    Dataset<Row> data = spark.createDataFrame(points, LabeledPoint.class).repartition(4).cache();
    LogisticRegressionModel model =
        new LogisticRegression().setMaxIter(iterations).setTol(0.0).setRegParam(0.001).fit(data);
    System.out.println("coefficients " + model.coefficients());
    for (double value : model.summary().objectiveHistory()) {
      System.out.println("objective " + value);
    }
    spark.stop();
  }
}
