using System;
using System.Collections;
using System.Collections.Generic;
using System.Threading;
namespace System.Private.CoreLib { internal static class Anchor { } }
// Secrets whose names stand in another field, and command lines in collections of another order. Each line that the program prints says what is
// expected where secrets are masked (as in Kinds.cs): PLANT KIND VALUE is in no output, BESIDE NAME VALUE is not beside the name, STAY TEXT stays.
namespace Apart
{
    public class Setting { public string Name { get; set; } public string Value { get; set; } }
    public class Parameter { string _parameterName; object _value; public Parameter(string n, object v) { _parameterName = n; _value = v; } }
    public class Named { public string Name; } public class Valued : Named { public object Value; }
    public struct NameValue { public string name; public string value; }
    public class Texts { public string KeyName; public string KeyValue; }
    public class Localized { public string _name; public string _value; }
    public class Keep { public object What; public Keep Next; }
    public static class Program
    {
        public static Keep All;
        static int seed = 24680;
        static Action<string> print;
        const string lower = "bcdfghjkmnpqrstvwxz", upper = "BCDFGHJKMNPQRSTVWXZ", digits = "23456789";
        static int Next(int n) { seed = unchecked(seed * 1103515245 + 12345); return (int)((uint)(seed >> 8) % (uint)n); }
        static string Word(string of, int n) { var b = new char[n]; for (int i = 0; i < n; i++) b[i] = of[Next(of.Length)]; return new string(b); }
        static string Made() { return Word(lower, 3) + Word(digits, 2) + Word(upper, 3) + "-" + Word(digits, 3) + Word(lower, 2); }
        static string Few() { return Word(upper, 1) + Word(lower, 1) + Word(digits, 1) + Word(lower, 1); }
        static void Hold(object o) { All = new Keep { What = o, Next = All }; }
        static string Plant(string kind) { var v = Made(); print("PLANT " + kind + " " + v); Hold("copy of " + v + ", of " + kind); return v; }
        static string Beside(string name) { var v = Few(); print("BESIDE " + name + " " + v); return v; }
        static string Stay(string text) { print("STAY " + text); return text; }
        static object Made(string type, params Type[] of) { return Activator.CreateInstance(Type.GetType(type).MakeGenericType(of)); }

        public static void Main(string[] args)
        {
            var write = Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) });
            print = s => write.Invoke(null, new object[] { s });
            Hold(new Setting { Name = "Db:Password", Value = Plant("property") });
            Hold(new Setting { Name = "Db:Pwd", Value = Beside("Db:Pwd") });
            Hold(new Setting { Name = "Db:Host", Value = Stay("host-of-db-7") });
            Hold(new Setting { Name = "PasswordTooShort", Value = Stay("Passwords have 12 characters.") });
            Hold(new Parameter("@password", Plant("parameter")));
            Hold(new Parameter("@user", Stay("user-of-db-7")));
            Hold(new Valued { Name = "ApiKey", Value = Plant("inherited") });
            Hold(new[] { new NameValue { name = "client_secret", value = Plant("structarray") }, new NameValue { name = "scope", value = Stay("scope-of-7") } });
            Hold(new List<NameValue> { new NameValue { name = "access_token", value = Plant("structlist") } });
            Hold(new Texts { KeyName = "signing_key", KeyValue = Plant("keyname") });
            Hold(new Localized { _name = "PasswordRequired", _value = Stay("Please give one of your 7 words") });
            var stack = (ICollection)Made("System.Collections.Generic.Stack`1, System.Collections", typeof(string));
            var push = stack.GetType().GetMethod("Push");
            foreach (var word in new[] { "tool", "--password", Plant("stack"), "--pwd", Beside("--pwd"), Stay("argument-7") }) push.Invoke(stack, new object[] { word });
            Hold(stack);
            var back = (ICollection)Made("System.Collections.Generic.Stack`1, System.Collections", typeof(string)); // as parsers do, so that Pop takes the first
            foreach (var word in new[] { Stay("argument-8"), Beside("--passphrase"), "--passphrase", Plant("reversed"), "--client-secret", "tool" }) push.Invoke(back, new object[] { word });
            Hold(back);
            var queue = new Queue<string>();
            foreach (var word in new[] { "tool", "--api-key", Plant("queue"), "--passwd", Beside("--passwd"), Stay("argument-9") }) queue.Enqueue(word);
            queue.Dequeue(); queue.Enqueue("--password"); queue.Enqueue(Plant("wrapped"));
            Hold(queue);
            Hold(new[] { new KeyValuePair<string, string>("Ftp:Password", Plant("pairarray")), new KeyValuePair<string, string>("Ftp:Pwd", Beside("Ftp:Pwd")) });
            GC.Collect();
            print("READY");
            Thread.Sleep(-1);
        }
    }
}
