// Sessions of a web server: two that requests work on, one that a request has not loaded, one whose cache is elsewhere, and five that rest in a
// MemoryDistributedCache. The caches, claims and options are those of .NET 10; the classes of ASP.NET Core have the names and fields that its sources
// give them (Microsoft.AspNetCore.Session of 6 to 10). args[1] is the folder with the assemblies.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Text;
using System.Threading;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Microsoft.AspNetCore.Http.Features
{
    public struct FeatureReferences<T> { public object Collection { get; set; } public T Cache; }
    public class FeatureCollection { public Dictionary<Type, object> _features = new Dictionary<Type, object>(); public object _defaults; }
}
namespace Microsoft.AspNetCore.Http.Features.Authentication { public class HttpAuthenticationFeature { public object User { get; set; } } }
namespace Microsoft.AspNetCore.Http
{
    public class DefaultHttpContext { public Microsoft.AspNetCore.Http.Features.FeatureReferences<object> _features; public DefaultHttpContext(object c) { _features.Collection = c; } }
}
namespace Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http
{
    public enum Method { Get, Put, Delete, Post }
    public enum HttpVersion { Unknown = -1, Http10, Http11, Http2, Http3 }
    public enum RequestProcessingStatus { RequestPending, ParsingRequestLine, ParsingHeaders, AppStarted, HeadersCommitted, HeadersFlushed, ResponseCompleted }
    public class HttpProtocol
    {
        public RequestProcessingStatus _requestProcessingStatus = RequestProcessingStatus.AppStarted; public Method Method { get; set; } public HttpVersion _httpVersion = HttpVersion.Http11;
        public string Scheme { get; set; } public string PathBase { get; set; } public string Path { get; set; } public string QueryString { get; set; } public string RawTarget { get; set; }
        public int _statusCode = 200; public bool _connectionAborted; public object RequestHeaders { get; set; }
        public object _currentISessionFeature, _currentIHttpAuthenticationFeature; public Exception _applicationException;
    }
}
namespace Microsoft.AspNetCore.Session
{
    public class EncodedKey
    {
        private string _keyString; private int? _hashCode;
        public EncodedKey(string key) { _keyString = key; KeyBytes = Encoding.UTF8.GetBytes(key); }
        public byte[] KeyBytes { get; private set; }
        public string KeyString { get { return _keyString; } }
        public override bool Equals(object o) { return ((EncodedKey)o)._keyString == _keyString; }
        public override int GetHashCode() { if (_hashCode == null) _hashCode = _keyString.GetHashCode(); return _hashCode.Value; }
    }
    public class DefaultDistributedSessionStore { public readonly Dictionary<EncodedKey, byte[]> _store = new Dictionary<EncodedKey, byte[]>(); }
    public class NoOpSessionStore { }
    public class SessionFeature { public DistributedSession Session { get; set; } }
    public class DistributedSessionStore { public object _cache, _loggerFactory; }
    public class DistributedSession
    {
        public object _cache; public string _sessionKey; public TimeSpan _idleTimeout, _ioTimeout; public Func<bool> _tryEstablishSession; public object _logger;
        public object _store = new DefaultDistributedSessionStore(); public bool _isModified, _loaded, _isAvailable; public bool _isNewSessionKey; public string _sessionId; public byte[] _sessionIdBytes;
        public void Set(string name, byte[] value) { ((DefaultDistributedSessionStore)_store)._store[new EncodedKey(name)] = value; _isModified = true; }
        public byte[] Serialize()
        {
            var all = ((DefaultDistributedSessionStore)_store)._store;
            var b = new List<byte> { 2, (byte)(all.Count >> 16), (byte)(all.Count >> 8), (byte)all.Count };
            b.AddRange(_sessionIdBytes);
            foreach (var e in all)
            {
                int n = e.Key.KeyBytes.Length, v = e.Value.Length;
                b.Add((byte)(n >> 8)); b.Add((byte)n); b.AddRange(e.Key.KeyBytes);
                b.Add((byte)(v >> 24)); b.Add((byte)(v >> 16)); b.Add((byte)(v >> 8)); b.Add((byte)v); b.AddRange(e.Value);
            }
            return b.ToArray();
        }
    }
}
namespace Microsoft.Extensions.Caching.StackExchangeRedis { public class RedisCache { public string _instance = "shop:"; } }
namespace Shop
{
    using Microsoft.AspNetCore.Http; using Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http; using Microsoft.AspNetCore.Session;
    public static class Program
    {
        static string folder;
        public static List<object> Keep = new List<object>();
        static readonly List<string> lines = new List<string>();
        static Assembly Load(string name) { return Assembly.LoadFrom(folder + "/" + name + ".dll"); }
        static object New(Type t, params object[] a) { return Activator.CreateInstance(t, a); }
        static object Options(Type of, object value)
        {
            return New(Load("Microsoft.Extensions.Options").GetType("Microsoft.Extensions.Options.OptionsWrapper`1").MakeGenericType(of), value);
        }
        static object Principal(string name)
        {
            var claims = Load("System.Security.Claims");
            Type claim = claims.GetType("System.Security.Claims.Claim"), identity = claims.GetType("System.Security.Claims.ClaimsIdentity");
            var list = Array.CreateInstance(claim, 1);
            list.SetValue(New(claim, "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name", name), 0);
            return New(claims.GetType("System.Security.Claims.ClaimsPrincipal"), New(identity, list));
        }
        static int next;
        static DistributedSession Make(object cache, bool loaded)
        {
            var s = new DistributedSession { _cache = cache, _idleTimeout = TimeSpan.FromMinutes(20), _ioTimeout = TimeSpan.FromMinutes(1), _loaded = loaded, _isAvailable = loaded };
            next++;
            s._sessionKey = "0f8fad5b-d9cb-469f-a165-70867728" + next.ToString("x4");
            s._sessionIdBytes = new byte[16];
            for (int i = 0; i < 16; i++) s._sessionIdBytes[i] = (byte)(16 * next + i);
            if (!loaded) s._sessionIdBytes = null;
            return s;
        }
        static byte[] Text(string s) { return Encoding.UTF8.GetBytes(s); }
        static byte[] Number(int n) { return new[] { (byte)(n >> 24), (byte)(n >> 16), (byte)(n >> 8), (byte)n }; }
        static void Request(Method m, string path, DistributedSession s, string user)
        {
            var p = new HttpProtocol { Scheme = "http", PathBase = "", Path = path, QueryString = "", RawTarget = path, Method = m, _currentISessionFeature = new SessionFeature { Session = s } };
            if (user != null) p._currentIHttpAuthenticationFeature = new Microsoft.AspNetCore.Http.Features.Authentication.HttpAuthenticationFeature { User = Principal(user) };
            Keep.Add(new DefaultHttpContext(p));
        }
        static object Put(object cache, string key, byte[] value)
        {
            Type options = Load("Microsoft.Extensions.Caching.Abstractions").GetType("Microsoft.Extensions.Caching.Distributed.DistributedCacheEntryOptions");
            object o = New(options);
            options.GetProperty("SlidingExpiration").SetValue(o, TimeSpan.FromMinutes(20));
            cache.GetType().GetMethod("Set").Invoke(cache, new[] { key, value, o });
            return cache;
        }
        static void Rest(object cache, DistributedSession s)
        {
            byte[] data = s.Serialize();
            Put(cache, s._sessionKey, data);
            lines.Add("FACT rest " + s._sessionKey + " " + new Guid(s._sessionIdBytes) + " " + data.Length);
        }
        static void Say(string st) { Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        public static void Main(string[] args)
        {
            folder = args[1];
            Type t = Load("Microsoft.Extensions.Caching.Memory").GetType("Microsoft.Extensions.Caching.Distributed.MemoryDistributedCache");
            Type ot = Load("Microsoft.Extensions.Caching.Memory").GetType("Microsoft.Extensions.Caching.Memory.MemoryDistributedCacheOptions");
            object cache = New(t, Options(ot, New(ot))), redis = new Microsoft.Extensions.Caching.StackExchangeRedis.RedisCache();
            Keep.Add(new DistributedSessionStore { _cache = cache }); Keep.Add(new DistributedSessionStore { _cache = redis });
            var cart = Make(cache, true); // alice, whose request is in progress
            cart.Set("cart", Text("3 books")); cart.Set("visits", Number(7)); cart.Set("password", Text("correct horse"));
            Rest(cache, cart);
            cart.Set("cart", Text("3 books, 1 pen"));
            Request(Method.Get, "/cart", cart, "alice");
            var anonymous = Make(cache, true); // the name is in the session alone
            anonymous.Set("UserName", Text("bob")); anonymous.Set("blob", new byte[] { 1, 2, 250, 251, 252 });
            Rest(cache, anonymous);
            Request(Method.Post, "/login", anonymous, null);
            Request(Method.Get, "/health", Make(cache, false), null); // not loaded
            var far = Make(redis, true);
            far.Set("visits", Number(1));
            Request(Method.Get, "/far", far, "dave");
            for (int i = 0; i < 2; i++)
            {
                var s = Make(cache, true);
                s.Set("UserName", Text("carol")); s.Set("page", new byte[1000 * (i + 1)]);
                Rest(cache, s);
            }
            var nobody = Make(cache, true);
            nobody.Set("theme", Text("dark"));
            Rest(cache, nobody);
            Put(cache, "product:17", Text("{\"name\":\"pen\"}"));
            Put(cache, "0f8fad5b-d9cb-469f-a165-70867728ffff", new byte[] { 2, 0, 0, 9, 1, 2, 3 }); // a key of that form, and no session
            foreach (string line in lines) Say(line);
            Say("READY");
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
