using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
// Secrets of 20 kinds, three of each, texts that look like secrets and are none, and secrets in places where they are hard to find. The values are made
// up, and made at run time of parts: PLANT KIND VALUE, LOOK VALUE and HIDE VALUE print them.
namespace Planted
{
    public class Account { public string User; public string Password; public string ApiKey { get; set; } }
    public class Keep { public object What; public Keep Next; }
    public struct Pair { public char A, B, C, D; public long Number; }
    public static class Program
    {
        public static Keep All;
        public static string ClientSecret;
        static int seed = 12345;
        static Action<string> print;
        const string lower = "abcdefghijklmnopqrstuvwxyz", upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", digits = "0123456789";

        static int Next(int n) { seed = unchecked(seed * 1103515245 + 12345); return (int)((uint)(seed >> 8) % (uint)n); }
        static string Word(string of, int n) { var b = new char[n]; for (int i = 0; i < n; i++) b[i] = of[Next(of.Length)]; return new string(b); }
        static string Pass() { return Word(lower, 4) + "-" + Word(digits, 4) + Word(upper, 3); }
        static void Hold(object o) { All = new Keep { What = o, Next = All }; }
        static string Plant(string kind, string value) { Fact("PLANT " + kind + " " + value.Replace("\n", "\\n")); return value; }
        static string Hide(string value) { Fact("HIDE " + value); return value; }
        static void Look(string value) { Fact("LOOK " + value); Hold(value); }
        static void Fact(string s) { print(s); }

        public static void Main(string[] args)
        {
            var write = Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) });
            print = s => write.Invoke(null, new object[] { s });
            for (int i = 0; i < args.Length; i++)
                if (args[i].StartsWith("--api-key=") || args[i].StartsWith("--db-password=")) Plant("option", args[i].Substring(args[i].IndexOf('=') + 1));
                else if (args[i] == "--client-secret") Plant("option", args[i + 1]);
            foreach (var n in new[] { "SHOP_PASSWORD", "SHOP_API_KEY", "SHOP_TOKEN" }) Plant("environment", Environment.GetEnvironmentVariable(n));
            Texts();
            for (int i = 0; i < 20; i++) Lookalikes(i);
            Places();
            new Thread(Wait) { IsBackground = true, Name = Hide("thread-" + Pass()) }.Start();
            var s2 = Hide("task-" + Pass());
            Pending(s2);
            GC.Collect();
            Thread.Sleep(200);
            var s3 = Hide("stack-" + Pass());
            Fact("READY " + Environment.CurrentManagedThreadId);
            Deep(s3, 3);
        }

        static void Texts()
        {
            for (int i = 0; i < 3; i++)
            {
                Hold(new Account { User = "user" + i, Password = Plant("field", Pass()) });
                Hold(new Dictionary<string, string> { { "Name", "value" + i }, { new[] { "Db:Password", "SigningKey", "X-Auth-Token" }[i], Plant("dictionary", Pass()) } });
                var c = Plant("connection", i == 1 ? Word(lower + upper + digits, 86) + "==" : Pass());
                Hold(new[] { "Server=db;Database=shop;User Id=sa;Password=" + c + ";Max Pool Size=40", "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=" + c + ";EndpointSuffix=core.windows.net",
                    "redis:6379,password=" + c + ",ssl=True" }[i]);
                var u = Plant("url", Pass());
                Hold(new[] { "amqp://guest:" + u + "@mq:5672/", "https://svc:" + u + "@repo.example/feed?x=1", "connect to mongodb+srv://app:" + u + "@cluster.example/db failed" }[i]);
                var jwt = Plant("jwt", "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIi" + Word(lower + digits, 20) + "." + Word(lower + upper + digits + "-_", 43));
                Hold(new[] { jwt, "got " + jwt + ", refreshed", "{\"t\":\"" + jwt + "\"}" }[i]);
                var pem = Plant("pem", Word(lower + upper + digits + "+/", 64) + "\n" + Word(lower + upper + digits + "+/", 64));
                var type = new[] { "RSA ", "EC ", "" }[i];
                Hold("-----BEGIN " + type + "PRIVATE KEY-----\n" + pem + "\n-----END " + type + "PRIVATE KEY-----\n");
                var b = Plant("bearer", Word(lower + upper + digits, 30));
                Hold(new[] { "Bearer " + b, "Authorization: Bearer " + b + "\r\nAccept: */*", "{\"Authorization\":\"bearer " + b + "\"}" }[i]);
                var basic = Plant("basic", Convert.ToBase64String(Encoding.UTF8.GetBytes("user:" + Pass())));
                Hold(new[] { "Basic " + basic, "authorization: basic " + basic, "Proxy-Authorization: Basic " + basic }[i]);
                var cookie = Plant("cookie", Word(lower + digits, 26));
                Hold(new[] { "Cookie: sid=" + cookie + "; theme=dark", "Set-Cookie: .AspNetCore.Session=" + cookie + "; path=/", "GET / HTTP/1.1\r\nCookie: a=b; sid=" + cookie + "\r\n\r\n" }[i]);
                var aws = Plant("aws", new[] { "AKIA", "ASIA", "AKIA" }[i] + Word(upper + "234567", 16));
                Hold(new[] { aws, "key " + aws + " denied", "X-Amz-Credential=" + aws + "/20260101/eu" }[i]);
                Hold("x " + Plant("github", new[] { "gh" + "p_", "gh" + "s_", "github" + "_pat_" }[i] + Word(lower + upper + digits, i == 2 ? 82 : 36)));
                Hold(Plant("slack", "xo" + new[] { "xb-", "xp-", "xa-" }[i] + Word(digits, 11) + "-" + Word(digits, 11) + "-" + Word(lower + upper + digits, 24)));
                Hold(Plant("stripe", new[] { "sk" + "_live_", "rk" + "_live_", "sk" + "_test_" }[i] + Word(lower + upper + digits, 24)));
                Hold("https://maps.example/api/js?v=" + i + "&key=" + Plant("google", "AI" + "za" + Word(lower + upper + digits + "-_", 35)));
                Hold(Plant("gitlab", "gl" + "pat-" + Word(lower + upper + digits, 20)));
                Hold(Plant("prefixed", new[] { "np" + "m_" + Word(lower + upper + digits, 36), "S" + "G." + Word(lower + upper + digits, 22) + "." + Word(lower + upper + digits, 43), "h" + "f_" + Word(lower + upper, 34) }[i]));
                Hold("https://shop.blob.core.windows.net/c/f" + i + "?sv=2024-01-01&se=2027&sig=" + Plant("sas", Word(lower + upper + digits, 43) + "%3D"));
                Hold(Encoding.UTF8.GetBytes(new[] { "{\"user\":\"a\",\"password\":\"", "{\"client_secret\": \"", "grant_type=x&client_secret=" }[i] + Plant("body", Pass()) + (i == 2 ? "&scope=y" : "\",\"remember\":true}")));
            }
            ClientSecret = Hide("static-" + Pass());
        }

        static void Lookalikes(int i)
        {
            Look(new Guid(Next(1 << 30), (short)i, 7, 1, 2, 3, 4, 5, 6, 7, 8).ToString());
            Look(Word("0123456789abcdef", 40));
            Look(new[] { "PasswordHasher", "TokenValidationParameters", "SecretClientOptions", "CookieAuthenticationHandler", "BearerTokenEvents" }[i % 5] + ".Run" + i);
            Look("/usr/share/app/v" + i + ".2/keys/public-" + i + ".crt");
            Look("https://api" + i + ".example:8443/v1/items?page=" + i + "&sort=asc@x");
            Look("name" + i + "@mail.example");
            Look("Shop.Core" + i + ", Version=1.0.0.0, Culture=neutral, PublicKeyToken=" + Word("0123456789abcdef", 16));
            Look(new[] { "Password must have 8 characters", "forgot your password?", "the token expired", "no secret was given", "Bearer authentication is required", "the cookie jar is empty",
                "API key missing", "invalid credentials", "sign in with basic auth", "private key not found" }[i % 10] + " (" + i + ")");
            Look(new[] { "key=value", "sort=asc", "author=someone", "count=", "monkey=banana", "tokens=none", "passes=", "turnkey=yes", "keyboard=de", "authority=local" }[i % 10] + i);
            Look(new[] { "sk-learn", "AKIAN", "xoxo-hugs", "eyJust", "ghp-12", "glpat", "npm_config_cache", "hf_hub", "SG.1.2", "basic ", "pypi-x", "AIzawa", "Bearer x", "sig=", "sk_livewire", "github_pat", "-----BEGIN CERTIFICATE-----",
                "password=***", "Password=${DB_PASSWORD}", "token: null" }[i]);
        }

        static void Places()
        {
            Hold(string.Intern(Hide("interned-" + Pass())));
            var b = new StringBuilder();
            for (int i = 0; i < 300; i++) b.Append("text ");
            b.Append(Hide("builder-" + Pass()));
            Hold(b);
            Hold(Hide("chars-" + Pass()).ToCharArray());
            Hold(Encoding.UTF8.GetBytes(Hide("bytes-" + Pass())));
            Hold(Encoding.Unicode.GetBytes(Hide("wide-" + Pass())));
            Marshal.StringToHGlobalAnsi(Hide("native-" + Pass()));
            Marshal.StringToHGlobalUni(Hide("nativewide-" + Pass()));
            Hold(new Dictionary<string, int> { { Hide("key-" + Pass()), 7 } });
            try { throw new InvalidOperationException(Hide("message-" + Pass())); } catch (InvalidOperationException e) { Hold(e); }
            Hold(Hide("a literal of the image"));
            Hold(new long[] { BitConverter.ToInt64(Encoding.UTF8.GetBytes(Hide("longtext")), 0) });
            Garbage();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Garbage()
        {
            for (int i = 0; i < 50; i++) new string('x', i).ToString();
            var s = Hide("garbage-" + Pass());
            Hold(new byte[24]);
            GC.KeepAlive(s);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Use(ref Pair p) { p.Number++; }
        static void Wait() { Thread.Sleep(-1); }
        static async void Pending(string s) { var t = new TaskCompletionSource<int>(); Hold(t); await t.Task; GC.KeepAlive(s); }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Deep(string s, int n)
        {
            var p = new Pair { A = s[6], B = s[7], C = s[8], D = s[9], Number = s.Length };
            Use(ref p);
             
            if (n > 0) Deep(s, n - 1); else Thread.Sleep(-1);
            GC.KeepAlive(s);
        }
    }
}
