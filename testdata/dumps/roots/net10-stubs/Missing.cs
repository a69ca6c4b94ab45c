namespace Missing { public static class Type { public static void Use(object a, object b) {} } }
