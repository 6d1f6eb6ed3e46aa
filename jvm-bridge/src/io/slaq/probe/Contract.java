package io.slaq.probe;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Whether this Spark has every class, field and method that our code uses or overrides.
 *
 * <p>The build writes the list from our own class files, so it is complete; here the JVM itself resolves each line, as it
 * would when the code first runs. What a root class needs is what it and all classes of ours that it calls need.
 */
public final class Contract {
  private static final String RESOURCE = "/META-INF/slaq/contract";
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
  private static final ClassLoader LOADER = Contract.class.getClassLoader();

  private static Contract ours;

  private final Map<String, List<String[]>> linesByUser = new HashMap<>();
  private final Map<String, String> missingByLine = new HashMap<>();
  private final Map<String, List<String>> unimplementedBy = new HashMap<>();

  private Contract(BufferedReader text) throws IOException {
    for (String line = text.readLine(); line != null; line = text.readLine()) {
      String[] cells = line.split(" ");
      linesByUser.computeIfAbsent(cells[0], key -> new ArrayList<>()).add(cells);
    }
  }

  /** What this Spark lacks of what these classes of ours (names with slashes) need; empty: they can run. */
  public static synchronized List<String> missing(Collection<String> roots) {
    try {
      if (ours == null) {
        InputStream text = Contract.class.getResourceAsStream(RESOURCE);
        if (text == null) {
          return Collections.singletonList("the list of what SLAQ needs (" + RESOURCE + ") in its own jar");
        }
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(text, StandardCharsets.UTF_8))) {
          ours = new Contract(reader);
        }
      }
      return ours.missingFor(roots);
    } catch (Throwable t) {
      return Collections.singletonList("the list of what SLAQ needs in readable form (" + t + ")");
    }
  }

  private List<String> missingFor(Collection<String> roots) {
    Set<String> missing = new TreeSet<>();
    Set<String> seen = new HashSet<>(roots);
    ArrayDeque<String> open = new ArrayDeque<>(roots);
    while (!open.isEmpty()) {
      String user = open.removeFirst();
      boolean overrides = false;
      for (String[] cells : linesByUser.getOrDefault(user, Collections.emptyList())) {
        if (cells[1].equals("uses")) {
          if (seen.add(cells[2])) {
            open.addLast(cells[2]);
          }
        } else {
          overrides |= cells[1].equals("override");
          missing.add(missingByLine.computeIfAbsent(lineWithoutUser(cells), key -> resolve(cells)));
        }
      }
      missing.remove("");
      if (overrides && missing.isEmpty()) {
        missing.addAll(unimplementedBy.computeIfAbsent(user, Contract::unimplemented));
      }
    }
    return new ArrayList<>(missing);
  }

  private static String lineWithoutUser(String[] cells) {
    return cells.length == 3 ? cells[2] : cells[2] + " " + cells[3] + " " + cells[4];
  }

  /** What is missing, as people write it, or an empty text. */
  private static String resolve(String[] cells) {
    String owner = cells[2].replace('/', '.');
    try {
      Class<?> type = Class.forName(owner, false, LOADER);
      if (cells.length > 3) {
        resolve(type, cells[3], cells[4]);
      }
      return "";
    } catch (IllegalAccessException presentButNotOurs) {
      return "";
    } catch (ReflectiveOperationException | LinkageError | TypeNotPresentException absent) {
      return cells.length > 3 ? owner + "." + cells[3] + " " + cells[4] : owner;
    }
  }

  /** A static member or a protected one is found but refused: an IllegalAccessException, which is as good. */
  private static void resolve(Class<?> owner, String name, String descriptor) throws ReflectiveOperationException {
    if (!descriptor.startsWith("(")) {
      LOOKUP.findGetter(owner, name, MethodType.fromMethodDescriptorString("()" + descriptor, LOADER).returnType());
      return;
    }
    MethodType type = MethodType.fromMethodDescriptorString(descriptor, LOADER);
    if (name.equals("<init>")) {
      LOOKUP.findConstructor(owner, type);
    } else {
      LOOKUP.findVirtual(owner, name, type);
    }
  }

  /** Methods that Spark has made abstract since, and which a class of ours therefore lacks. */
  private static List<String> unimplemented(String user) {
    List<String> found = new ArrayList<>();
    try {
      Class<?> type = Class.forName(user.replace('/', '.'), false, LOADER);
      for (Method method : type.getMethods()) {
        if (Modifier.isAbstract(method.getModifiers()) && !Modifier.isAbstract(type.getModifiers())) {
          found.add("a default for the new " + method.getDeclaringClass().getName() + "." + method.getName());
        }
      }
    } catch (ReflectiveOperationException | LinkageError e) {
      found.add("what " + user.replace('/', '.') + " is made of (" + e + ")");
    }
    return found;
  }
}
