using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Security;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
// A secret in each kind of place by which it can be known: by the name of a field, a parameter, a key or a setting, or by its form. The values are made up,
// and made at run time. Each line that the program prints says what is expected where secrets are masked:
//   PLANT KIND VALUE   is in no output, nor are its copies: of most values there is one in an array of objects, without a name
//   BESIDE NAME VALUE  is too short to be masked everywhere: it is in no output beside the name
//   STAY TEXT          is no secret and stays as it is
namespace Kinds
{
    public enum Secrecy { Plain = 0, Sealed = 3 }
    public struct Login { public string User; public string Password; }
    public struct Outer { public int Number; public Login Inner; }
    public struct Short { public int Number; public string Passphrase; }
    public class Account { public string User; public string Password; public string Pwd; }
    public class Structs { public Login One; public Outer Two; public Login[] Row; public List<Login> Listed; public object Box; public Login? Maybe; public Tuple<string, Login> Pair; }
    public class Settings
    {
        public char[] Password; public byte[] SigningKey; public byte[] EncryptionKey; public StringBuilder ApiKey; public Memory<char> ClientSecret; public ReadOnlyMemory<char> ApiSecret;
        public ArraySegment<char> AccessKey; public List<char> SecretKey; public SecureString Passphrase; public Guid AppSecret; public object PrivateKey; public string[] ApiKeys;
        public Lazy<string> AccessToken; public Task<string> RefreshToken; public List<string> ClientSecrets; public ICollection<string> ApiTokens; public Dictionary<string, int> AccessTokens;
        public Dictionary<int, string> Credentials; public object BearerToken { get; set; }
        public int PasswordLength; public Secrecy SecretKind; public object SecretFound; public int Pwd; public string Secret;
    }
    public class Weak { public WeakReference<string> Password; public WeakReference ApiKey; public WeakReference<char[]> ClientSecret; }
    public class Keep { public object What; public Keep Next; }
    public static class Program
    {
        public static Keep All;
        public static string ClientSecret;
        public static char[] DbPassword;
        public static readonly AsyncLocal<string> AccessToken = new AsyncLocal<string>();
        [ThreadStatic] static string threadPassword;
        static int seed = 54321, ready;
        static Action<string> print;
        static readonly List<object> strong = new List<object>();
        const string lower = "bcdfghjkmnpqrstvwxz", upper = "BCDFGHJKMNPQRSTVWXZ", digits = "23456789";

        static int Next(int n) { seed = unchecked(seed * 1103515245 + 12345); return (int)((uint)(seed >> 8) % (uint)n); }
        static string Word(string of, int n) { var b = new char[n]; for (int i = 0; i < n; i++) b[i] = of[Next(of.Length)]; return new string(b); }
        static string Made() { return Word(lower, 3) + Word(digits, 2) + Word(upper, 3) + "-" + Word(digits, 3) + Word(lower, 2); }
        static string Few() { return Word(upper, 1) + Word(lower, 1) + Word(digits, 1) + Word(lower, 1); }
        static void Hold(object o) { All = new Keep { What = o, Next = All }; }
        // Plant prints a secret and keeps a copy of it in a text.
        static string Plant(string kind) { return Plant(kind, Made()); }
        static string Plant(string kind, string value) { print("PLANT " + kind + " " + value); Hold("copy of " + value + ", of " + kind); return value; }
        static string Beside(string name) { return Beside(name, Few()); }
        static string Beside(string name, string value) { print("BESIDE " + name + " " + value); return value; }
        static string Stay(string text) { print("STAY " + text); return text; }
        static object Made(string type, params Type[] of) { return Activator.CreateInstance(Type.GetType(type).MakeGenericType(of)); }
        static byte[] Bytes(string s) { return Encoding.UTF8.GetBytes(s); }
        static string Escaped(string s) { var b = new StringBuilder(); foreach (var c in Bytes(s)) if (c < 128 && char.IsLetterOrDigit((char)c)) b.Append((char)c); else b.Append("%" + c.ToString("X2")); return b.ToString(); }

        public static void Main(string[] args)
        {
            var write = Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) });
            print = s => write.Invoke(null, new object[] { s });
            for (int i = 0; i < args.Length; i++)
                if (args[i].StartsWith("--api-key=")) Plant("option", args[i].Substring(args[i].IndexOf('=') + 1));
                else if (args[i] == "--client-secret") Plant("option", args[i + 1]);
                else if (args[i] == "--pwd") Beside("--pwd", args[i + 1]);
            foreach (var n in new[] { "SHOP_PASSWORD", "SHOP_API_KEY" }) Plant("environment", Environment.GetEnvironmentVariable(n));
            Beside("SHOP_SECRET", Environment.GetEnvironmentVariable("SHOP_SECRET"));
            InStructs();
            InFields();
            InPairs();
            InTexts();
            Copies();
            InWeak();
            ClientSecret = Plant("static");
            DbPassword = Plant("staticchars").ToCharArray();
            new Thread(() => { threadPassword = Plant("threadstatic"); Interlocked.Increment(ref ready); Thread.Sleep(-1); }) { IsBackground = true, Name = "holder" }.Start();
            var chars = Plant("stackchars").ToCharArray();
            var guid = Plant("stackguid", "d" + Word("0123456789abcdef", 7) + "-93d2-4c11-8a55-" + Word("0123456789abcdef", 12));
            var onStack = Plant("stack");
            var few = Beside("pwd");
            new Thread(() => OnStack(onStack, chars, new Guid(guid), new Login { User = "userOnStack", Password = Plant("stackstruct") }, few, 7)) { IsBackground = true, Name = "stacked" }.Start();
            new Thread(() => { Pending(); Interlocked.Increment(ref ready); Thread.Sleep(-1); }) { IsBackground = true, Name = "async" }.Start();
            while (Volatile.Read(ref ready) < 3) Thread.Sleep(10);
            Stay("userOnStack"); Stay("PasswordLength"); Stay("SecretKind"); Stay("Kinds.Settings"); Stay("threadPassword"); Stay("holder");
            GC.Collect();
            print("READY " + Environment.CurrentManagedThreadId);
            Thread.Sleep(-1);
        }

        static void InStructs()
        {
            var many = new[] { new Login { User = Stay("user-of-row"), Password = Plant("structrow") }, new Login { User = "b", Password = Beside("Password") } };
            Hold(new Structs
            {
                One = new Login { User = "a", Password = Plant("struct") }, Two = new Outer { Number = 5, Inner = new Login { User = "a", Password = Plant("structinstruct") } }, Row = many,
                Listed = new List<Login> { new Login { User = "a", Password = Plant("structlist") } }, Box = new Login { User = "a", Password = Plant("structbox") },
                Maybe = new Login { User = "a", Password = Plant("structnullable") }, Pair = Tuple.Create("a", new Login { User = "a", Password = Plant("structtuple") })
            });
            Hold(new Short { Number = 3, Passphrase = Beside("Passphrase") });
        }

        static void InFields()
        {
            var s = new Settings();
            s.Password = Plant("chars").ToCharArray();
            s.SigningKey = Bytes(Plant("bytes"));
            s.EncryptionKey = Encoding.Unicode.GetBytes(Plant("widebytes"));
            s.ApiKey = new StringBuilder(Plant("builder"));
            for (int i = 0; i < 40; i++) s.ApiKey.Append(" text");
            s.ClientSecret = Plant("memory").ToCharArray();
            s.ApiSecret = Plant("readonlymemory").AsMemory();
            s.AccessKey = new ArraySegment<char>(("head " + Plant("segment") + " tail").ToCharArray(), 5, 14);
            s.SecretKey = new List<char>(Plant("charlist"));
            s.Passphrase = new SecureString();
            foreach (var c in Plant("securestring")) s.Passphrase.AppendChar(c);
            s.AppSecret = new Guid(Plant("guid", "a" + Word("0123456789abcdef", 7) + "-93d2-4c11-8a55-" + Word("0123456789abcdef", 12)));
            s.PrivateKey = Plant("objectfield");
            s.ApiKeys = new[] { Plant("stringarray"), Plant("stringarray") };
            var lazy = Plant("lazy");
            s.AccessToken = new Lazy<string>(() => lazy);
            GC.KeepAlive(s.AccessToken.Value);
            s.RefreshToken = Task.FromResult(Plant("task"));
            s.ClientSecrets = new List<string> { Plant("list") };
            s.ApiTokens = (ICollection<string>)Made("System.Collections.Generic.HashSet`1", typeof(string));
            s.ApiTokens.Add(Plant("set"));
            s.AccessTokens = new Dictionary<string, int> { { Plant("keyoffield"), 3 } };
            s.Credentials = new Dictionary<int, string> { { 3, Plant("valueoffield") } };
            s.BearerToken = Plant("property");
            s.PasswordLength = 7731; Stay("7731");
            s.SecretKind = Secrecy.Sealed; Stay("Sealed");
            s.SecretFound = true;
            s.Pwd = 48217; Beside("Pwd", "48217");
            s.Secret = Beside("Secret");
            Hold(s);
            Hold(new Account { User = Stay("user-of-account"), Password = Plant("field"), Pwd = Beside("Pwd") });
        }

        static void InPairs()
        {
            Hold(new List<KeyValuePair<string, string>> { new KeyValuePair<string, string>("Db:Password", Plant("pairs")), new KeyValuePair<string, string>("Db:Pwd", Beside("Db:Pwd")) });
            Hold(new List<Tuple<string, string>> { Tuple.Create("ApiKey", Plant("tuples")), Tuple.Create("ApiSecret", Beside("ApiSecret")) });
            Hold(new List<ValueTuple<string, string>> { new ValueTuple<string, string>("ClientSecret", Plant("valuetuples")), new ValueTuple<string, string>("AppSecret", Beside("AppSecret")) });
            Hold(new[] { new KeyValuePair<string, object>("AccessKey", Plant("pairarray")), new KeyValuePair<string, object>("SecretKey", Beside("SecretKey")) });
            Hold(Tuple.Create("Passphrase", Plant("onetuple")));
            Hold(new Dictionary<string, string> { { "Smtp:Password", Plant("dictionary") }, { "Smtp:Passwd", Beside("Smtp:Passwd") }, { "Smtp:Host", Stay("host-of-smtp") } });
            Hold(new Dictionary<string, object> { { "signingKey", Plant("objectdictionary").ToCharArray() } });
            Hold(new Dictionary<string, string[]> { { "X-Api-Key", new[] { Plant("headerlist") } }, { "Authorization", new[] { "Bearer " + Plant("authorization", Made() + Made()) } } });
            var sorted = (IDictionary<string, string>)Made("System.Collections.Generic.SortedList`2, System.Collections", typeof(string), typeof(string));
            sorted.Add("Ftp:Password", Plant("sortedlist")); sorted.Add("Ftp:Pwd", Beside("Ftp:Pwd"));
            Hold(sorted);
        }

        static void InTexts()
        {
            Hold("GET / HTTP/1.1\r\nX-Api-Key: " + Plant("header") + "\r\nAccept: */*\r\n\r\n");
            Hold("Authorization: Basic " + Convert.ToBase64String(Bytes("svc:" + Plant("basic"))));
            Hold(Activator.CreateInstance(Type.GetType("System.Uri, System.Private.Uri"), "https://svc:" + Plant("uri") + "@repo.example/feed?x=1"));
            Hold("Server=db;User Id=sa;Password=" + Plant("connection") + ";Max Pool Size=40");
            Hold(Bytes("{\"user\":\"a\",\"password\":\"" + Plant("body") + "\"}"));
            try { throw new InvalidOperationException("login with Password=" + Plant("message") + " failed"); } catch (InvalidOperationException e) { Hold(e); }
        }

        static void Copies()
        {
            var a = new Account { User = "a", Password = Plant("cased") };
            Hold(a);
            Hold("in capitals " + Plant("uppercase", a.Password.ToUpper()));
            Hold("in small letters " + Plant("lowercase", a.Password.ToLower()));
            for (int i = 0; i < 3; i++) Hold("encoded " + Plant("base64", Convert.ToBase64String(Bytes(new[] { "", "a", "a:" }[i] + a.Password))));
            Hold("encoded " + Plant("base64wide", Convert.ToBase64String(Encoding.Unicode.GetBytes(a.Password))));
            var odd = Plant("odd", "k7+Q/" + Made() + "&=" + Word(digits, 3));
            Hold(new Account { User = "a", Password = odd });
            Hold("https://h/?q=" + Plant("urlescaped", Escaped(odd)) + "&x=1");
        }

        static void InWeak()
        {
            var w = new Weak();
            strong.Add(Plant("weak")); w.Password = new WeakReference<string>((string)strong[0]);
            strong.Add(Plant("weakobject")); w.ApiKey = new WeakReference(strong[1]);
            strong.Add(Plant("weakchars").ToCharArray()); w.ClientSecret = new WeakReference<char[]>((char[])strong[2]);
            Hold(w);
            AccessToken.Value = Plant("asynclocal");
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void OnStack(string password, char[] apiKey, Guid clientSecret, Login login, string pwd, int passwordLength)
        {
            Interlocked.Increment(ref ready);
            Thread.Sleep(-1);
            GC.KeepAlive(password); GC.KeepAlive(apiKey); GC.KeepAlive(clientSecret); GC.KeepAlive(login); GC.KeepAlive(pwd); GC.KeepAlive(passwordLength);
        }

        static async Task Pending()
        {
            var t = new TaskCompletionSource<int>();
            Hold(t);
            await Refresh(t.Task, Plant("asyncparameter"), Plant("asyncchars").ToCharArray(), new Guid(Plant("asyncguid", "b" + Word("0123456789abcdef", 7) + "-93d2-4c11-8a55-" + Word("0123456789abcdef", 12))), Beside("appSecret"), true,
                new Login { User = "a", Password = Plant("asyncstruct") });
        }

        static async Task Refresh(Task<int> wait, string password, char[] apiKey, Guid clientSecret, string appSecret, object secretFound, Login login)
        {
            await wait;
            GC.KeepAlive(password); GC.KeepAlive(apiKey); GC.KeepAlive(clientSecret); GC.KeepAlive(appSecret); GC.KeepAlive(secretFound); GC.KeepAlive(login);
        }
    }
}
