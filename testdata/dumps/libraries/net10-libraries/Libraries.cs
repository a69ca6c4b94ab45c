// Classes with the names and fields that libraries have: EF Core 9, System.Text.Json 10, System.Net.Http 6, Microsoft.Data.SqlClient 7.1 with its
// second pool, Microsoft.Data.Sqlite 10, StackExchange.Redis 2.8, ASP.NET Core SignalR and Blazor 10, Microsoft.Extensions.ObjectPool 7, Grpc.AspNetCore and Grpc.Net.Client 2.67, Npgsql 6, ASP.NET Core 6 with its servers HTTP.sys and IIS, FSharp.Core 10, Npgsql 10, System.Data.SqlClient 4.8, Serilog 4 with Serilog.Sinks.Async 2, MassTransit 8,
// wait handles as NativeAOT's class library implements them.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Microsoft.FSharp.Core
{
    public class FSharpOption<T> { public T value; }
    public class FSharpRef<T> { public T contents; }
    public struct FSharpResult<T, E> { public T resultValue; public E errorValue; public int _tag; }
    public struct FSharpValueOption<T> { public T item; public int _tag; }
    public class FSharpChoice<A, B> { public class Choice2Of2 : FSharpChoice<A, B> { public B item; } }
}
namespace Microsoft.FSharp.Collections
{
    public class FSharpList<T> { public T head; public FSharpList<T> tail; public static FSharpList<T> Of(params T[] list) { var l = new FSharpList<T>(); for (int i = list.Length - 1; i >= 0; i--) { var c = new FSharpList<T>(); c.head = list[i]; c.tail = l; l = c; } return l; } }
    public class MapTree<K, V> { public int h; public V v; public K k; public MapTree(K key, V value) { k = key; v = value; h = 1; } }
    public class MapTreeNode<K, V> : MapTree<K, V> { public MapTree<K, V> left, right; public MapTreeNode(K key, V value, MapTree<K, V> l, MapTree<K, V> r) : base(key, value) { left = l; right = r; h = 2; } }
    public class FSharpMap<K, V> { public object comparer; public MapTree<K, V> tree; }
    public class SetTree<T> { public T k; public int h; public SetTree(T key) { k = key; h = 1; } }
    public class SetTreeNode<T> : SetTree<T> { public SetTree<T> left, right; public SetTreeNode(T key, SetTree<T> l, SetTree<T> r) : base(key) { left = l; right = r; h = 2; } }
    public class FSharpSet<T> { public object comparer; public SetTree<T> tree; }
}
namespace Microsoft.FSharp.Control
{
    public class Mailbox<T> { public List<T> inboxStore; public Queue<T> arrivals = new Queue<T>(); public object savedCont; }
    public class FSharpMailboxProcessor<T> { public Mailbox<T> mailbox = new Mailbox<T>(); public bool started = true; }
}
namespace System.Threading
{
    public class WaitSubsystem
    {
        public class WaitableObject
        {
            public OwnershipInfo _ownershipInfo;
            public class OwnershipInfo { public Thread _thread; }
        }
    }
}
namespace Microsoft.EntityFrameworkCore
{
    public class DbContext { bool _disposed; object _contextServices; public DbContext(bool d) { _disposed = d; _contextServices = new object(); } }
}
namespace Microsoft.EntityFrameworkCore.ChangeTracking.Internal
{
    public class InternalEntityEntry { public object Entity; }
    public class EntityReferenceMap
    {
        public bool _hasSubMap;
        public Dictionary<object, EntityReferenceMap> _sharedTypeReferenceMap;
        public Dictionary<object, InternalEntityEntry> _detachedReferenceMap, _unchangedReferenceMap, _deletedReferenceMap, _modifiedReferenceMap, _addedReferenceMap;
        public static Dictionary<object, InternalEntityEntry> Of(params object[] list)
        {
            var d = new Dictionary<object, InternalEntityEntry>();
            foreach (object o in list) { var e = new InternalEntityEntry(); e.Entity = o; d[o] = e; }
            return d;
        }
    }
    public class StateManager
    {
        public EntityReferenceMap _entityReferenceMap = new EntityReferenceMap();
        public Microsoft.EntityFrameworkCore.DbContext Context { get; set; }
        public int ChangedCount { get; set; }
    }
}
namespace System.Security.Claims
{
    public class Claim { public string _type, _value; public Claim(string t, string v) { _type = t; _value = v; } }
    public class ClaimsIdentity { public List<Claim> _instanceClaims = new List<Claim>(); public string _nameClaimType = "name"; }
    public class ClaimsPrincipal
    {
        public List<ClaimsIdentity> _identities = new List<ClaimsIdentity>();
        public ClaimsPrincipal(string name) { var i = new ClaimsIdentity(); i._instanceClaims.Add(new Claim("role", "guest")); i._instanceClaims.Add(new Claim("name", name)); _identities.Add(i); }
    }
}
namespace System.Diagnostics
{
    public class Activity
    {
        public string _traceId, _spanId, _parentSpanId, _id; public string OperationName { get; set; }
        public DateTime StartTimeUtc { get; set; } public TimeSpan Duration { get; set; } public Activity Parent { get; set; }
    }
}
namespace Microsoft.AspNetCore.Http.Features
{
    public struct FeatureReferences<T> { public object Collection { get; set; } public T Cache; }
    public class FeatureCollection
    {
        public Dictionary<Type, object> _features = new Dictionary<Type, object>(); public object _defaults;
        public void Add(object o) { _features[o.GetType()] = o; }
    }
}
namespace Microsoft.AspNetCore.Http
{
    public class DefaultHttpContext
    {
        public Microsoft.AspNetCore.Http.Features.FeatureReferences<object> _features;
        public DefaultHttpContext(object c) { _features.Collection = c; }
    }
}
namespace System.Net
{
    public class IPAddress { public uint _addressOrScopeId; public ushort[] _numbers; }
}
namespace Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http
{
    public enum Method { Get, Put, Delete, Post }
    public enum HttpVersion { Unknown = -1, Http10, Http11, Http2, Http3 }
    public enum RequestProcessingStatus { RequestPending, ParsingRequestLine, ParsingHeaders, AppStarted, HeadersCommitted, HeadersFlushed, ResponseCompleted }
    public class HttpProtocol
    {
        public RequestProcessingStatus _requestProcessingStatus; public Method Method { get; set; } public HttpVersion _httpVersion;
        public string Scheme { get; set; } public string PathBase { get; set; } public string Path { get; set; } public string QueryString { get; set; } public string RawTarget { get; set; }
        public int _statusCode = 200; public bool _connectionAborted; public object RequestHeaders { get; set; }
        public System.Net.IPAddress RemoteIpAddress { get; set; } public int RemotePort { get; set; } public System.Net.IPAddress LocalIpAddress { get; set; } public int LocalPort { get; set; }
        public List<KeyValuePair<Type, object>> MaybeExtra; public Exception _applicationException;
    }
}
namespace Microsoft.AspNetCore.Hosting
{
    public class ActivityFeature { public System.Diagnostics.Activity Activity { get; set; } }
}
namespace Microsoft.AspNetCore.Authentication
{
    public class AuthenticationFeatures { public System.Security.Claims.ClaimsPrincipal _user; public object _result; }
}
namespace Microsoft.AspNetCore.Authorization.Policy
{
    public class AuthenticationFeatures { public System.Security.Claims.ClaimsPrincipal _user; public object _result; }
}
namespace Microsoft.AspNetCore.Server.HttpSys
{
    public class Request { public string Method { get; set; } public string PathBase { get; set; } public string Path { get; set; } public string RawUrl { get; set; } }
    public class RequestContext { public Request Request { get; set; } }
    public class StandardFeatureCollection { public RequestContext _featureContext; }
}
namespace Microsoft.AspNetCore.Server.IIS.Core
{
    public class IISHttpContext
    {
        public string Method { get; set; } public string Scheme { get; set; } public string PathBase { get; set; } public string Path { get; set; }
        public string QueryString { get; set; } public string RawTarget { get; set; } public int _statusCode; public bool _hasResponseStarted, _wasUpgraded;
        public System.Security.Claims.ClaimsPrincipal User { get; set; }
        public object _currentIHttpAuthenticationFeature, _currentIHttpActivityFeature;
    }
}
namespace System.Text.Json
{
    public sealed class JsonDocument
    {
        public struct MetadataDb { public int Length { get; set; } public byte[] _data; }
        public ReadOnlyMemory<byte> _utf8Json; public MetadataDb _parsedData;
    }
    public struct JsonElement { public JsonDocument _parent; public int _idx; }
    public class JsonPropertyDictionary<T> { public Dictionary<string, T> _propertyDictionary; public List<KeyValuePair<string, T>> _propertyList; } // up to .NET 8
}
namespace System.Text.Json.Nodes
{
    public class JsonArray { public JsonElement? _jsonElement; public List<object> _list; }
    public class JsonObject { public JsonElement? _jsonElement; public JsonPropertyDictionary<object> _dictionary; }
}
namespace Microsoft.Extensions.Caching.Memory // of .NET 6
{
    public class CacheEntry
    {
        public struct CacheEntryState { public byte _flags, _evictionReason, _priority; }
        public object Key { get; set; }
        public DateTimeOffset? AbsoluteExpiration { get; set; }
        public DateTimeOffset LastAccessed { get; set; }
        public TimeSpan? _slidingExpiration; public long? _size; public object _value; public CacheEntryState _state;
    }
    public class MemoryCacheOptions { public long? _sizeLimit; }
    public class MemoryCache { public Dictionary<object, CacheEntry> _entries = new Dictionary<object, CacheEntry>(); public long _cacheSize; public MemoryCacheOptions _options = new MemoryCacheOptions(); }
}
namespace System
{
    public class Uri { string _string; public Uri(string s) { _string = s; } }
}
namespace System.Net.Http
{
    public class HttpMethod { string _method; public HttpMethod(string m) { _method = m; } }
    public class HttpRequestMessage { public HttpMethod _method; public Uri _requestUri; }
    public class HttpResponseMessage { public int _statusCode; public HttpRequestMessage _requestMessage; }
    public class HttpAuthority { public string IdnHost { get; set; } public int Port { get; set; } }
    public class HttpConnection { public HttpConnectionPool _pool; public HttpRequestMessage _currentRequest; }
    public class Http2Stream { public HttpRequestMessage _request; }
    public class Http2Connection { public HttpConnectionPool _pool; public Dictionary<int, Http2Stream> _httpStreams = new Dictionary<int, Http2Stream>(); }
    public class HttpConnectionPool
    {
        public struct RequestQueue<T>
        {
            public struct QueueItem { public HttpRequestMessage Request; public object Waiter; }
            public Queue<QueueItem> _queue;
            public void Add(HttpRequestMessage m) { if (_queue == null) _queue = new Queue<QueueItem>(); var i = new QueueItem(); i.Request = m; _queue.Enqueue(i); }
        }
        public int _kind; public HttpAuthority _originAuthority; public bool _disposed;
        public List<HttpConnection> _availableHttp11Connections = new List<HttpConnection>();
        public int _maxHttp11Connections, _associatedHttp11ConnectionCount, _pendingHttp11ConnectionCount, _associatedHttp2ConnectionCount;
        public RequestQueue<HttpConnection> _http11RequestQueue;
        public RequestQueue<Http2Connection> _http2RequestQueue;
        public List<object> _waiters; // up to .NET 5
    }
}
namespace System.Threading.RateLimiting // of version 8
{
    public class RateLimiter { }
    public class ConcurrencyLimiter : RateLimiter { public int _permitCount, _queueCount; }
}
namespace System.Threading.Channels
{
    public class AsyncOperation<T> : System.Threading.Tasks.Sources.IValueTaskSource<T>
    {
        public AsyncOperation<T> Next { get; set; }
        public T GetResult(short token) { return default(T); }
        public System.Threading.Tasks.Sources.ValueTaskSourceStatus GetStatus(short token) { return System.Threading.Tasks.Sources.ValueTaskSourceStatus.Pending; }
        public void OnCompleted(Action<object> continuation, object state, short token, System.Threading.Tasks.Sources.ValueTaskSourceOnCompletedFlags flags) { _continuation = continuation; _continuationState = state; }
        public Action<object> _continuation; public object _continuationState;
    }
    public class ChannelReader<T> { }
    public class UnboundedChannel<T>
    {
        public class UnboundedChannelReader : ChannelReader<T> { public UnboundedChannel<T> _parent; }
        public System.Collections.Concurrent.ConcurrentQueue<T> _items = new System.Collections.Concurrent.ConcurrentQueue<T>();
        public AsyncOperation<T> _blockedReadersHead;
        public ChannelReader<T> Reader() { var r = new UnboundedChannelReader(); r._parent = this; return r; }
        public void Block(int n) // a ring
        {
            AsyncOperation<T> first = null, last = null;
            for (int i = 0; i < n; i++) { var o = new AsyncOperation<T>(); if (first == null) first = o; else last.Next = o; last = o; }
            if (last != null) last.Next = first;
            _blockedReadersHead = first;
        }
    }
}
namespace Microsoft.Data.ProviderBase
{
    public class DbConnectionInternal { public WeakReference<object> _owningObject; public DateTime CreateTime { get; set; } public object Pool { get; set; } }
}
namespace Microsoft.Data.SqlClient
{
    public class SqlError { public int _number; }
    public class SqlErrorCollection { public List<object> _errors = new List<object>(); }
    public class SqlBatchCommand { public string _text; }
    public class SqlException : Exception { public SqlErrorCollection _errors = new SqlErrorCollection(); public Guid _clientConnectionId; public SqlBatchCommand _batchCommand; public SqlException(string m) : base(m) { } }
    public class SqlConnection { public Microsoft.Data.ProviderBase.DbConnectionInternal _innerConnection; public object _poolGroup; }
    public class TdsParser { public TdsParserStateObject _physicalStateObj; public object _currentTransaction; }
    public class TdsParserStateObject { public TdsParser _parser; public WeakReference<object> _owner; }
    public class SqlCommand { public string _commandText; public int _commandType = 1; public int? _commandTimeout; public object _parameters, _activeConnection; public TdsParserStateObject _stateObj; }
}
namespace Microsoft.Data.SqlClient.Connection
{
    public class SqlConnectionInternal : Microsoft.Data.ProviderBase.DbConnectionInternal { public Guid _clientConnectionId, _originalClientConnectionId; public TdsParser _parser; public string CurrentDatabase { get; set; } }
}
namespace Microsoft.Data.SqlClient.ConnectionPool
{
    public class ConnectionPoolKey { public string _connectionString; }
    public class DbConnectionPoolGroup { public ConnectionPoolKey _poolKey = new ConnectionPoolKey(); }
    public class DbConnectionPoolGroupOptions { public int _minPoolSize, _maxPoolSize; }
    public enum DbConnectionPoolState { Initializing, Running, ShuttingDown }
    public class ConnectionPoolSlots { public Microsoft.Data.ProviderBase.DbConnectionInternal[] _connections; public int _reservations; }
    public class IdleConnectionChannel { public System.Threading.Channels.ChannelReader<Microsoft.Data.ProviderBase.DbConnectionInternal> _reader; public int _count; }
    public class ChannelDbConnectionPool
    {
        public ConnectionPoolSlots _connectionSlots; public IdleConnectionChannel _idleChannel;
        public DbConnectionPoolGroup PoolGroup { get; set; } public DbConnectionPoolGroupOptions PoolGroupOptions { get; set; } public DbConnectionPoolState State { get; set; }
    }
}
namespace System.Data.SqlClient
{
    public class SqlError { public int Number { get; set; } }
    public class SqlErrorCollection { public List<object> _errors = new List<object>(); }
    public class SqlException : Exception { public SqlErrorCollection _errors = new SqlErrorCollection(); public Guid _clientConnectionId; public SqlException(string m) : base(m) { } }
}
namespace Npgsql
{
    public class NpgsqlBatchCommand { public string _commandText, FinalCommandText; }
    public class NpgsqlException : Exception { public NpgsqlBatchCommand BatchCommand { get; set; } public NpgsqlException(string m, Exception e) : base(m, e) { } }
    public class PostgresException : NpgsqlException { public string SqlState { get; set; } public PostgresException(string m) : base(m, null) { } }
}
namespace System.Collections.Concurrent
{
    public class BlockingCollection<T> { public ConcurrentQueue<T> _collection = new ConcurrentQueue<T>(); public int _boundedCapacity; public BlockingCollection(int n) { _boundedCapacity = n; } }
}
namespace Serilog.Events
{
    public class LogEvent { }
}
namespace Serilog.Sinks.Async
{
    public class FileSink { }
    public class BackgroundWorkerSink { public object _wrappedSink = new FileSink(); public bool _blockWhenFull; public System.Collections.Concurrent.BlockingCollection<Serilog.Events.LogEvent> _queue; public long _droppedMessages; }
}
namespace Serilog.Core.Sinks.Batching
{
    public class SeqSink { }
    public class BatchingSink { public object _targetSink = new SeqSink(); public object _queue; public Queue<Serilog.Events.LogEvent> _currentBatch = new Queue<Serilog.Events.LogEvent>(); }
}
namespace MassTransit.Transports
{
    public class ReceivePipeDispatcher { public int _activeDispatchCount, _maxConcurrentDispatchCount; public long _dispatchCount; public string _endpointName, _inputAddress; }
}
namespace MassTransit.Transports.Fabric
{
    public class MessageQueue<A, B> { public object _channel; public string Name { get; set; } }
}
namespace Microsoft.Data.Sqlite
{
    public class SqliteConnectionInternal { public WeakReference<SqliteConnection> _outerConnection; }
    public class SqliteConnectionPool
    {
        public enum State { Active, Disabled }
        public List<SqliteConnectionInternal> _connections = new List<SqliteConnectionInternal>();
        public List<SqliteConnectionInternal> _warmPool = new List<SqliteConnectionInternal>(), _coldPool = new List<SqliteConnectionInternal>(); // stacks
        public State _state;
    }
    public class SqliteConnectionPoolGroup { public SqliteConnectionPool _pool; public string ConnectionString { get; set; } }
    public class SqliteTransaction { }
    public class SqliteDataReader { public SqliteCommand _command; public bool _closed; }
    public class SqliteCommand { public SqliteConnection _connection; public string _commandText; public int? _commandTimeout = 30; public SqliteDataReader DataReader { get; set; } }
    public class SqliteConnection { public string _connectionString; public int _state; public SqliteConnectionInternal _innerConnection; public SqliteTransaction Transaction { get; set; } }
}
namespace Microsoft.EntityFrameworkCore.Storage
{
    public class RelationalConnection { public object _connection; public Microsoft.EntityFrameworkCore.DbContext Context { get; set; } }
}
namespace StackExchange.Redis
{
    public enum RedisCommand { NONE, GET, HSET, SUBSCRIBE }
    public enum CommandStatus { Unknown, WaitingToBeSent, Sent, WaitingInBacklog }
    public class Message { public RedisCommand command; public DateTime CreatedDateTime; public CommandStatus Status { get; set; } }
    public class CommandKeyMessage : Message { }
    public class ConnectionMultiplexer { public bool _isDisposed; public long syncTimeouts, asyncTimeouts; }
    public class PhysicalConnection { public Queue<Message> _writtenAwaitingResponse = new Queue<Message>(); }
    public class PhysicalBridge
    {
        public string Name; public ConnectionMultiplexer Multiplexer { get; set; } public int state; public bool isDisposed; public PhysicalConnection physical;
        public System.Collections.Concurrent.ConcurrentQueue<Message> _backlog = new System.Collections.Concurrent.ConcurrentQueue<Message>();
    }
}
namespace Microsoft.AspNetCore.SignalR
{
    public class JsonHubProtocol { }
    public class HubConnectionContext
    {
        public string UserIdentifier { get; set; } public object Protocol { get; set; } public bool _connectionAborted; public SemaphoreSlim _writeLock = new SemaphoreSlim(1, 1);
    }
    public class HubConnectionStore { public Dictionary<string, HubConnectionContext> _connections = new Dictionary<string, HubConnectionContext>(); }
    public class DefaultHubLifetimeManager<T> { public HubConnectionStore _connections = new HubConnectionStore(); public Microsoft.AspNetCore.SignalR.Internal.HubGroupList _groups = new Microsoft.AspNetCore.SignalR.Internal.HubGroupList(); }
}
namespace Microsoft.AspNetCore.SignalR.Internal
{
    public class GroupConnectionList : Dictionary<string, HubConnectionContext> { }
    public class HubGroupList { public Dictionary<string, GroupConnectionList> _groups = new Dictionary<string, GroupConnectionList>(); }
}
namespace Microsoft.AspNetCore.Components.Server.Circuits
{
    public struct CircuitId { public string Secret { get; set; } public string Id { get; set; } }
    public class CircuitClientProxy { public bool Connected { get; set; } public string ConnectionId { get; set; } }
    public class CircuitHost { public CircuitId CircuitId { get; set; } public CircuitClientProxy Client { get; set; } public bool _disposed; }
}
namespace Microsoft.Extensions.ObjectPool
{
    public class DefaultObjectPool<T> where T : class { public struct ObjectWrapper { public T Element; } public T _firstItem; public ObjectWrapper[] _items = new ObjectWrapper[7]; }
}
namespace Grpc.Core
{
    public enum MethodType { Unary, ClientStreaming, ServerStreaming, DuplexStreaming }
    public class Method<A, B> { MethodType type; string serviceName, name, fullName; public Method(MethodType t, string s, string n) { type = t; serviceName = s; name = n; fullName = "/" + s + "/" + n; } }
    public struct Status { public int StatusCode { get; set; } public string Detail { get; set; } }
}
namespace Grpc.Net.Client
{
    public class GrpcChannel { public Uri Address { get; set; } public bool Disposed { get; set; } }
}
namespace Grpc.Net.Client.Internal
{
    public class GrpcMethodInfo { public Uri CallUri { get; set; } }
    public class GrpcCall { public bool ResponseFinished { get; set; } public System.Net.Http.HttpResponseMessage HttpResponse { get; set; } public GrpcChannel Channel { get; set; } }
    public class GrpcCall<A, B> : GrpcCall
    {
        public GrpcMethodInfo _grpcMethodInfo; public DateTime _deadline; public int _attemptCount; public System.Threading.Tasks.TaskCompletionSource<Grpc.Core.Status> _callTcs;
        public bool Disposed { get; set; } public Grpc.Core.Method<A, B> Method { get; set; } public int MessagesWritten { get; set; } public int MessagesRead { get; set; }
    }
}
namespace Grpc.AspNetCore.Server.Internal
{
    public class ServerCallDeadlineManager { public DateTime Deadline { get; set; } public bool IsCallComplete { get; set; } }
    public class HttpContextServerCallContext { public object HttpContext { get; set; } public Grpc.Core.Status _status; public string _peer; public ServerCallDeadlineManager DeadlineManager; }
}
// Waits that nobody ends: a finalizer that needs a lock whose owner waits for the finalizers; a thread that blocks until code completes that has to go on in it;
// a method that enters a semaphore twice; threads at a semaphore that another one has; producers of a full BlockingCollection; calls that await one promise;
// workers without work.
namespace Stuck
{
    public sealed class Res { ~Res() { lock (Sync) { } } public static readonly object Sync = new object(); }
    public static class Reply { public static readonly TaskCompletionSource<int> tcs = new TaskCompletionSource<int>(); }
    public sealed class Pump : SynchronizationContext
    {
        readonly Queue<KeyValuePair<SendOrPostCallback, object>> posted = new Queue<KeyValuePair<SendOrPostCallback, object>>();
        public override void Post(SendOrPostCallback d, object s) { lock (posted) { posted.Enqueue(new KeyValuePair<SendOrPostCallback, object>(d, s)); Monitor.PulseAll(posted); } }
        public void Run() { while (true) { KeyValuePair<SendOrPostCallback, object> w; lock (posted) { while (posted.Count == 0) Monitor.Wait(posted); w = posted.Dequeue(); } w.Key(w.Value); } }
    }
    public static class M
    {
        static readonly List<object> keep = new List<object>();
        static readonly SemaphoreSlim once = new SemaphoreSlim(1, 1), seats = new SemaphoreSlim(1, 1), work = new SemaphoreSlim(0);
        static void T(string n, ThreadStart st) { var th = new Thread(st) { Name = n, IsBackground = true }; th.Start(); }
        static async Task<int> Ask(int i) { int n = await Reply.tcs.Task; return n + i; }
        static async Task<int> Load() { await Task.Delay(100); return 4711; }
        static async Task Outer() { await once.WaitAsync(); try { await Inner(); } finally { once.Release(); } }
        static async Task Inner() { await once.WaitAsync(); try { await Task.Delay(1); } finally { once.Release(); } }
        static void Seat() { seats.Wait(); try { Thread.Sleep(3600000); } finally { seats.Release(); } }
        static void Work() { while (true) { work.Wait(); GC.KeepAlive(keep); } }
        static void Produce() { for (int k = 0; ; k++) add("order " + k); }
        static Action<string> add;
        [MethodImpl(MethodImplOptions.NoInlining)] static void MakeRes() { for (int i = 0; i < 10; i++) new Res(); }
        static void Hold() { lock (Res.Sync) { MakeRes(); GC.Collect(); GC.WaitForPendingFinalizers(); } }
        static void Show() { var p = new Pump(); SynchronizationContext.SetSynchronizationContext(p); p.Post(o => GC.KeepAlive(Load().Result), null); p.Run(); }
        public static void Start()
        {
            T("holder", Hold); T("ui", Show);
            for (int i = 0; i < 3; i++) keep.Add(Outer());
            for (int i = 0; i < 4; i++) { T("seat " + i, Seat); Thread.Sleep(50); }
            Type bc = Type.GetType("System.Collections.Concurrent.BlockingCollection`1, System.Collections.Concurrent").MakeGenericType(typeof(string));
            object q = Activator.CreateInstance(bc, new object[] { 3 }); keep.Add(q);
            add = (Action<string>)Delegate.CreateDelegate(typeof(Action<string>), q, bc.GetMethod("Add", new[] { typeof(string) }));
            for (int i = 0; i < 2; i++) T("producer " + i, Produce);
            for (int i = 0; i < 12; i++) keep.Add(Ask(i));
            for (int i = 0; i < 5; i++) T("worker " + i, Work);
            Thread.Sleep(1500);
        }
    }
}

namespace Fakes
{
    public class Order { public int Id; }
    public class ChatHub { }
    public class Customer { public string Name; }
    public class Address { public string Street; }
    public class ShopContext : Microsoft.EntityFrameworkCore.DbContext { public ShopContext(bool d) : base(d) { } }
    public static class Holder
    {
        public static object[] Values; public static object Pooled; public static Mutex Gate = new Mutex();
        public static ShopContext Used = new ShopContext(false), Unused = new ShopContext(false), Gone = new ShopContext(true);
        public static Microsoft.EntityFrameworkCore.ChangeTracking.Internal.StateManager State = new Microsoft.EntityFrameworkCore.ChangeTracking.Internal.StateManager();
        public static System.Net.Http.HttpConnectionPool Pool = new System.Net.Http.HttpConnectionPool();
        public static System.Net.Http.HttpConnection Busy = new System.Net.Http.HttpConnection();
        public static Microsoft.Data.SqlClient.ConnectionPool.ChannelDbConnectionPool Sql = new Microsoft.Data.SqlClient.ConnectionPool.ChannelDbConnectionPool();
        public static Microsoft.Data.SqlClient.SqlCommand Command = new Microsoft.Data.SqlClient.SqlCommand();
        public static object Connection = new object();
        public static object[] Requests = new object[2];
        public static object[] Calls = new object[4];
        public static List<object> Services = new List<object>();
        public static System.Text.Json.Nodes.JsonArray Array = new System.Text.Json.Nodes.JsonArray();
        public static System.Text.Json.Nodes.JsonObject Object = new System.Text.Json.Nodes.JsonObject();
        public static Microsoft.Extensions.Caching.Memory.MemoryCache Cache = new Microsoft.Extensions.Caching.Memory.MemoryCache();
    }
    public static class Program
    {
        static System.Net.Http.HttpRequestMessage Request(string uri)
        {
            var m = new System.Net.Http.HttpRequestMessage();
            m._method = new System.Net.Http.HttpMethod("GET"); m._requestUri = new Uri(uri);
            return m;
        }
        static void Network() // a pool with one connection, which is busy, and two requests that wait
        {
            var p = Holder.Pool;
            p._originAuthority = new System.Net.Http.HttpAuthority(); p._originAuthority.IdnHost = "shop.example"; p._originAuthority.Port = 80;
            p._maxHttp11Connections = 1; p._associatedHttp11ConnectionCount = 1;
            p._http11RequestQueue.Add(Request("http://shop.example/first")); p._http11RequestQueue.Add(Request("http://shop.example/second"));
            var old = new System.Net.Http.HttpConnectionPool(); old._originAuthority = new System.Net.Http.HttpAuthority(); old._originAuthority.IdnHost = "old.example"; old._originAuthority.Port = 81;
            old._waiters = new List<object>(); for (int i = 0; i < 3; i++) old._waiters.Add(new object());
            var many = new System.Net.Http.Http2Connection(); many._pool = old; old._associatedHttp2ConnectionCount = 1; Holder.Services.Add(many);
            for (int i = 0; i < 2; i++) { many._httpStreams[1 + 2 * i] = new System.Net.Http.Http2Stream(); many._httpStreams[1 + 2 * i]._request = Request("http://old.example/" + i); }
            Holder.Busy._pool = p; Holder.Busy._currentRequest = Request("http://shop.example/running");
        }
        static void Database() // three connections, of which one is idle, one runs a command and one does nothing; two calls wait
        {
            var p = Holder.Sql;
            p.State = Microsoft.Data.SqlClient.ConnectionPool.DbConnectionPoolState.Running;
            p.PoolGroup = new Microsoft.Data.SqlClient.ConnectionPool.DbConnectionPoolGroup(); p.PoolGroup._poolKey._connectionString = "Data Source=db;User ID=sa;Password=secret";
            p.PoolGroupOptions = new Microsoft.Data.SqlClient.ConnectionPool.DbConnectionPoolGroupOptions(); p.PoolGroupOptions._maxPoolSize = 3;
            p._connectionSlots = new Microsoft.Data.SqlClient.ConnectionPool.ConnectionPoolSlots(); p._connectionSlots._reservations = 3;
            var all = new Microsoft.Data.ProviderBase.DbConnectionInternal[5];
            var channel = new System.Threading.Channels.UnboundedChannel<Microsoft.Data.ProviderBase.DbConnectionInternal>();
            for (int i = 0; i < 3; i++)
            {
                var c = new Microsoft.Data.SqlClient.Connection.SqlConnectionInternal();
                c.CurrentDatabase = "shop"; c._owningObject = new WeakReference<object>(Holder.Connection);
                c._parser = new Microsoft.Data.SqlClient.TdsParser(); c._parser._physicalStateObj = new Microsoft.Data.SqlClient.TdsParserStateObject();
                c._parser._physicalStateObj._parser = c._parser;
                all[i + 1] = c;
                if (i == 0) { channel._items.Enqueue(null); channel._items.Enqueue(c); }
                if (i == 1) c._parser._physicalStateObj._owner = new WeakReference<object>(Holder.Command);
            }
            Holder.Command._commandText = "SELECT 1";
            channel.Block(2);
            p._connectionSlots._connections = all;
            p._idleChannel = new Microsoft.Data.SqlClient.ConnectionPool.IdleConnectionChannel();
            p._idleChannel._reader = channel.Reader();
        }
        static Guid Id(int n) { return new Guid(n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10); }
        // a connection with some commands, none of which runs
        static Microsoft.Data.SqlClient.SqlConnection Client(int id, int first, params string[] commands)
        {
            var inner = new Microsoft.Data.SqlClient.Connection.SqlConnectionInternal(); inner._clientConnectionId = Id(id); if (first != 0) inner._originalClientConnectionId = Id(first); inner.Pool = Holder.Sql;
            var c = new Microsoft.Data.SqlClient.SqlConnection(); c._innerConnection = inner; inner._owningObject = new WeakReference<object>(c); Holder.Services.Add(c);
            foreach (string text in commands) { var command = new Microsoft.Data.SqlClient.SqlCommand(); command._commandText = text; command._activeConnection = c; Holder.Services.Add(command); }
            return c;
        }
        static void Fail(int id, int number, string message, string batch)
        {
            var e = new Microsoft.Data.SqlClient.SqlException(message); e._clientConnectionId = Id(id); var error = new Microsoft.Data.SqlClient.SqlError(); error._number = number; e._errors._errors.Add(error);
            if (batch != null) { e._batchCommand = new Microsoft.Data.SqlClient.SqlBatchCommand(); e._batchCommand._text = batch; }
            throw e;
        }
        static async System.Threading.Tasks.Task Reserve(int id) { await System.Threading.Tasks.Task.Yield(); Fail(id, 1205, "Transaction (Process ID 52) was deadlocked on lock resources", null); }
        static void Keep(Action a) { try { a(); } catch (Exception e) { Holder.Services.Add(e); } }
        static void Failures() // of a connection with one command, of one with two, of a batch, of a connection that is gone, of a routed one; of the old driver; of PostgreSQL within a request
        {
            Client(1, 0, "UPDATE dbo.Stock SET Quantity = Quantity - 1"); Client(2, 0, "SELECT 1", "SELECT 2"); Client(3, 30, "ALTER LOGIN app WITH PASSWORD = 'not-a-real-password'");
            for (int i = 0; i < 3; i++) Keep(() => Reserve(1).GetAwaiter().GetResult());
            Keep(() => Fail(2, -2, "Execution Timeout Expired", null)); Keep(() => Fail(2, 547, "The INSERT statement conflicted", "INSERT INTO dbo.Lines VALUES (1)"));
            Keep(() => Fail(4, 10054, "A transport-level error has occurred", null)); Keep(() => Fail(30, 15118, "Password validation failed", null));
            var old = new System.Data.SqlClient.SqlException("Login failed for user 'app'"); var number = new System.Data.SqlClient.SqlError(); number.Number = 18456; old._errors._errors.Add(number); Holder.Services.Add(old);
            var pg = new Npgsql.PostgresException("duplicate key value violates unique constraint"); pg.SqlState = "23505"; pg.BatchCommand = new Npgsql.NpgsqlBatchCommand(); pg.BatchCommand._commandText = "INSERT INTO orders VALUES ($1)";
            Keep(() => { throw pg; });
            Keep(() => { throw new Npgsql.NpgsqlException("Exception while reading from stream", new TimeoutException("Timeout during reading attempt")); });
            var kestrel = new Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol();
            kestrel._requestProcessingStatus = Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.RequestProcessingStatus.AppStarted; kestrel.Method = Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.Method.Post;
            kestrel._httpVersion = Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpVersion.Http11; kestrel.Scheme = "http"; kestrel.PathBase = ""; kestrel.Path = "/orders"; kestrel.QueryString = ""; kestrel.RawTarget = kestrel.Path; kestrel._statusCode = 500;
            kestrel._applicationException = new InvalidOperationException("order 4711 was not stored", pg);
            Holder.Services.Add(new Microsoft.AspNetCore.Http.DefaultHttpContext(kestrel));
        }
        static void Queues() // log events that wait, one of a full queue, and messages of an endpoint
        {
            var sink = new Serilog.Sinks.Async.BackgroundWorkerSink(); sink._queue = new System.Collections.Concurrent.BlockingCollection<Serilog.Events.LogEvent>(4); sink._droppedMessages = 17;
            for (int i = 0; i < 4; i++) sink._queue._collection.Enqueue(new Serilog.Events.LogEvent());
            var batching = new Serilog.Core.Sinks.Batching.BatchingSink(); var events = new System.Threading.Channels.UnboundedChannel<Serilog.Events.LogEvent>(); batching._queue = events;
            for (int i = 0; i < 3; i++) events._items.Enqueue(new Serilog.Events.LogEvent());
            batching._currentBatch.Enqueue(new Serilog.Events.LogEvent());
            var queue = new MassTransit.Transports.Fabric.MessageQueue<object, Order>(); queue.Name = "order-placed"; var messages = new System.Threading.Channels.UnboundedChannel<Order>(); queue._channel = messages;
            for (int i = 0; i < 2; i++) messages._items.Enqueue(new Order());
            var endpoint = new MassTransit.Transports.ReceivePipeDispatcher(); endpoint._activeDispatchCount = 16; endpoint._maxConcurrentDispatchCount = 16; endpoint._dispatchCount = 90210; endpoint._endpointName = "order-placed"; endpoint._inputAddress = "loopback://localhost/order-placed";
            Holder.Services.Add(sink); Holder.Services.Add(batching); Holder.Services.Add(queue); Holder.Services.Add(endpoint);
        }
        static void Remote() // calls that are sent: one that runs, one that is done; and one that is answered
        {
            for (int i = 0; i < 2; i++)
            {
                var c = new Grpc.Net.Client.Internal.GrpcCall<Order, Customer>();
                c.Method = new Grpc.Core.Method<Order, Customer>(i == 0 ? Grpc.Core.MethodType.Unary : Grpc.Core.MethodType.ServerStreaming, "shop.Orders", i == 0 ? "Buy" : "Watch");
                c._grpcMethodInfo = new Grpc.Net.Client.Internal.GrpcMethodInfo(); c._grpcMethodInfo.CallUri = new Uri("http://shop.example/shop.Orders/" + (i == 0 ? "Buy" : "Watch"));
                c._attemptCount = 1 + i; c.MessagesRead = 7 * i; c.MessagesWritten = 1;
                c._deadline = i == 0 ? new DateTime(2026, 1, 2, 3, 4, 5, DateTimeKind.Utc) : DateTime.MaxValue;
                c.Channel = new Grpc.Net.Client.GrpcChannel(); c.Channel.Address = new Uri("http://shop.example");
                c._callTcs = new System.Threading.Tasks.TaskCompletionSource<Grpc.Core.Status>();
                if (i == 1)
                {
                    c.ResponseFinished = true; c.Disposed = true; var s = new Grpc.Core.Status(); s.StatusCode = 14; s.Detail = "gone"; c._callTcs.SetResult(s);
                    c.HttpResponse = new System.Net.Http.HttpResponseMessage(); c.HttpResponse._statusCode = 200;
                }
                Holder.Calls[i] = c;
            }
            var served = new Grpc.AspNetCore.Server.Internal.HttpContextServerCallContext();
            served._peer = "ipv4:10.0.0.1:5000"; served.DeadlineManager = new Grpc.AspNetCore.Server.Internal.ServerCallDeadlineManager();
            served.DeadlineManager.Deadline = new DateTime(2026, 1, 2, 3, 4, 6, DateTimeKind.Utc);
            Holder.Calls[2] = served;
            // one of HTTP/2 from an address of IPv6, in progress; and an earlier call of the same connection, which has ended
            var kestrel = new Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol();
            kestrel._requestProcessingStatus = Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.RequestProcessingStatus.HeadersFlushed; kestrel.Method = Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.Method.Post;
            kestrel._httpVersion = Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpVersion.Http2; kestrel.Scheme = "http"; kestrel.PathBase = ""; kestrel.Path = "/shop.Orders/Ship"; kestrel.QueryString = ""; kestrel.RawTarget = kestrel.Path;
            kestrel.RemoteIpAddress = new System.Net.IPAddress(); kestrel.RemoteIpAddress._numbers = new ushort[] { 0x2001, 0xdb8, 0, 0, 0, 0, 0, 1 }; kestrel.RemotePort = 5001;
            kestrel.LocalIpAddress = new System.Net.IPAddress(); kestrel.LocalIpAddress._addressOrScopeId = 0x0100007f; kestrel.LocalPort = 443;
            kestrel.MaybeExtra = new List<KeyValuePair<Type, object>>();
            var context = new Microsoft.AspNetCore.Http.DefaultHttpContext(kestrel);
            for (int i = 0; i < 2; i++)
            {
                var call = new Grpc.AspNetCore.Server.Internal.HttpContextServerCallContext(); call.HttpContext = context; Holder.Services.Add(call);
                if (i == 1) kestrel.MaybeExtra.Add(new KeyValuePair<Type, object>(typeof(Order), call));
            }
        }
        static void Lite() // a pool of three connections, of which one is idle, one reads and one is in a transaction; and an open one without a pool
        {
            var pool = new Microsoft.Data.Sqlite.SqliteConnectionPool(); var group = new Microsoft.Data.Sqlite.SqliteConnectionPoolGroup();
            group._pool = pool; group.ConnectionString = "Data Source=shop.db;Password=hush"; Holder.Services.Add(group);
            for (int i = 0; i < 4; i++)
            {
                var inner = new Microsoft.Data.Sqlite.SqliteConnectionInternal(); var c = new Microsoft.Data.Sqlite.SqliteConnection();
                c._connectionString = i == 3 ? "Data Source=:memory:" : group.ConnectionString; c._state = i == 0 ? 0 : 1;
                if (i != 3) pool._connections.Add(inner);
                if (i == 0) pool._warmPool.Add(inner); else { c._innerConnection = inner; inner._outerConnection = new WeakReference<Microsoft.Data.Sqlite.SqliteConnection>(c); }
                if (i == 1)
                {
                    var command = new Microsoft.Data.Sqlite.SqliteCommand(); command._connection = c; command._commandText = "SELECT * FROM orders";
                    command.DataReader = new Microsoft.Data.Sqlite.SqliteDataReader(); command.DataReader._command = command; Holder.Services.Add(command);
                }
                if (i == 2)
                {
                    c.Transaction = new Microsoft.Data.Sqlite.SqliteTransaction();
                    var r = new Microsoft.EntityFrameworkCore.Storage.RelationalConnection(); r._connection = c; r.Context = Holder.Used; Holder.Services.Add(r);
                }
                Holder.Services.Add(c);
            }
        }
        static void Cache() // a multiplexer with a server that is gone, for which 3 commands wait, and one that has 2 to answer
        {
            var m = new StackExchange.Redis.ConnectionMultiplexer(); m.syncTimeouts = 4; m.asyncTimeouts = 5; Holder.Services.Add(m);
            for (int i = 0; i < 2; i++)
            {
                var b = new StackExchange.Redis.PhysicalBridge(); b.Name = (i == 0 ? "gone" : "cache") + ":6379/Interactive"; b.Multiplexer = m; b.state = i == 0 ? 3 : 2; Holder.Services.Add(b);
                if (i == 1) b.physical = new StackExchange.Redis.PhysicalConnection();
                for (int n = 0; n < 3 - i; n++)
                {
                    StackExchange.Redis.Message x = n == 0 ? new StackExchange.Redis.CommandKeyMessage() : new StackExchange.Redis.Message();
                    x.command = i == 0 ? StackExchange.Redis.RedisCommand.HSET : StackExchange.Redis.RedisCommand.GET; x.CreatedDateTime = new DateTime(2026, 1, 2, 3, 4, n, DateTimeKind.Utc);
                    if (i == 0) b._backlog.Enqueue(x); else b.physical._writtenAwaitingResponse.Enqueue(x);
                }
            }
        }
        static void Connected() // a hub with three clients of two users and two groups; one client is slow; and two circuits
        {
            var hub = new Microsoft.AspNetCore.SignalR.DefaultHubLifetimeManager<ChatHub>(); Holder.Services.Add(hub);
            var all = new Microsoft.AspNetCore.SignalR.Internal.GroupConnectionList(); var some = new Microsoft.AspNetCore.SignalR.Internal.GroupConnectionList();
            for (int i = 0; i < 3; i++)
            {
                var c = new Microsoft.AspNetCore.SignalR.HubConnectionContext(); c.UserIdentifier = i == 2 ? "bob" : "alice"; c.Protocol = new Microsoft.AspNetCore.SignalR.JsonHubProtocol(); c._connectionAborted = i == 2;
                hub._connections._connections["id" + i] = c; all["id" + i] = c; if (i == 1) some["id1"] = c;
                if (i == 1) { c._writeLock.Wait(); for (int n = 0; n < 4; n++) Holder.Services.Add(c._writeLock.WaitAsync()); }
            }
            hub._groups._groups["everybody"] = all; hub._groups._groups["some"] = some;
            for (int i = 0; i < 2; i++)
            {
                var host = new Microsoft.AspNetCore.Components.Server.Circuits.CircuitHost(); var id = new Microsoft.AspNetCore.Components.Server.Circuits.CircuitId(); id.Id = "circuit" + i; id.Secret = "s"; host.CircuitId = id;
                host.Client = new Microsoft.AspNetCore.Components.Server.Circuits.CircuitClientProxy(); host.Client.Connected = i == 0; host.Client.ConnectionId = i == 0 ? "id0" : null; Holder.Services.Add(host);
            }
            var pool = new Microsoft.Extensions.ObjectPool.DefaultObjectPool<Order>(); pool._firstItem = new Order(); pool._items[0].Element = new Order(); pool._items[3].Element = new Order(); Holder.Services.Add(pool);
        }
        static async System.Threading.Tasks.Task Limited(System.Threading.RateLimiting.RateLimiter l) { await new System.Threading.Tasks.TaskCompletionSource<object>(l).Task; } // as a request in its queue
        static async System.Threading.Tasks.Task ReadItem() { await new System.Threading.Tasks.ValueTask<int>(new System.Threading.Channels.AsyncOperation<int>(), 0); }
        static async System.Threading.Tasks.Task MayGoOn() { await new System.Threading.Tasks.ValueTask<bool>(new System.Threading.Channels.AsyncOperation<bool>(), 0); }
        static void Wait() // for a permit, for an item of a channel of .NET 8, and for what only the channel knows
        {
            Holder.Services.Add(Limited(new System.Threading.RateLimiting.ConcurrencyLimiter())); Holder.Services.Add(ReadItem()); Holder.Services.Add(MayGoOn());
        }
        static void Serve() // one of HTTP.sys and one of IIS, each of a user whom middleware has found
        {
            var sys = new Microsoft.AspNetCore.Server.HttpSys.RequestContext(); sys.Request = new Microsoft.AspNetCore.Server.HttpSys.Request();
            sys.Request.Method = "PUT"; sys.Request.PathBase = ""; sys.Request.Path = "/stock/7"; sys.Request.RawUrl = "/stock/7?by=1";
            var own = new Microsoft.AspNetCore.Server.HttpSys.StandardFeatureCollection(); own._featureContext = sys;
            var features = new Microsoft.AspNetCore.Http.Features.FeatureCollection(); features._defaults = own;
            var found = new Microsoft.AspNetCore.Authentication.AuthenticationFeatures(); found._user = new System.Security.Claims.ClaimsPrincipal("alice");
            var trace = new Microsoft.AspNetCore.Hosting.ActivityFeature(); trace.Activity = new System.Diagnostics.Activity();
            trace.Activity.OperationName = "HttpRequestIn"; trace.Activity._traceId = "4d28e36bc9f44a20dfa5fc821f1d8f9a"; trace.Activity.StartTimeUtc = new DateTime(2026, 1, 2, 3, 4, 7, DateTimeKind.Utc);
            features.Add(found); features.Add(trace);
            Holder.Requests[0] = new Microsoft.AspNetCore.Http.DefaultHttpContext(features);

            var iis = new Microsoft.AspNetCore.Server.IIS.Core.IISHttpContext();
            iis.Method = "GET"; iis.Scheme = "https"; iis.PathBase = ""; iis.Path = "/me"; iis.QueryString = ""; iis.RawTarget = "/me"; iis._statusCode = 200;
            var policy = new Microsoft.AspNetCore.Authorization.Policy.AuthenticationFeatures(); policy._user = new System.Security.Claims.ClaimsPrincipal("bob");
            iis._currentIHttpAuthenticationFeature = policy; iis._currentIHttpActivityFeature = iis;
            features = new Microsoft.AspNetCore.Http.Features.FeatureCollection(); features._defaults = iis;
            Holder.Requests[1] = new Microsoft.AspNetCore.Http.DefaultHttpContext(features);
        }
        static void Cached() // one for a day, which expired, and one that nobody uses for an hour goes
        {
            var day = new Microsoft.Extensions.Caching.Memory.CacheEntry(); day.Key = "day"; day._value = "today"; day._size = 5;
            day.LastAccessed = new DateTimeOffset(2026, 1, 2, 3, 0, 0, TimeSpan.Zero); day.AbsoluteExpiration = new DateTimeOffset(2026, 1, 3, 4, 0, 0, TimeSpan.FromHours(1));
            day._state._flags = 1 | 2; day._state._evictionReason = 3; day._state._priority = 1;
            var used = new Microsoft.Extensions.Caching.Memory.CacheEntry(); used.Key = "used"; used._value = new Order();
            used.LastAccessed = new DateTimeOffset(2026, 1, 2, 4, 0, 0, TimeSpan.Zero); used._slidingExpiration = TimeSpan.FromHours(1); used._state._flags = 1 | 4;
            Holder.Cache._entries[day.Key] = day; Holder.Cache._entries[used.Key] = used;
            Holder.Cache._cacheSize = 5; Holder.Cache._options._sizeLimit = 100;
            var o = new System.Text.Json.JsonPropertyDictionary<object>(); o._propertyList = new List<KeyValuePair<string, object>>();
            o._propertyList.Add(new KeyValuePair<string, object>("a", "x")); o._propertyList.Add(new KeyValuePair<string, object>("b", null));
            Holder.Object._dictionary = o;
        }
        static void Values() // of F#
        {
            var map = new Microsoft.FSharp.Collections.FSharpMap<string, int>();
            map.tree = new Microsoft.FSharp.Collections.MapTreeNode<string, int>("b", 2, new Microsoft.FSharp.Collections.MapTree<string, int>("a", 1), null);
            var set = new Microsoft.FSharp.Collections.FSharpSet<int>();
            set.tree = new Microsoft.FSharp.Collections.SetTreeNode<int>(5, new Microsoft.FSharp.Collections.SetTree<int>(3), new Microsoft.FSharp.Collections.SetTree<int>(7));
            var some = new Microsoft.FSharp.Core.FSharpOption<string>(); some.value = "text";
            var inner = new Microsoft.FSharp.Core.FSharpOption<object>(); inner.value = inner;
            var ok = new Microsoft.FSharp.Core.FSharpResult<int, string>(); ok.resultValue = 3;
            var error = new Microsoft.FSharp.Core.FSharpResult<int, string>(); error.errorValue = "wrong"; error._tag = 1;
            var nothing = new Microsoft.FSharp.Core.FSharpValueOption<Guid>();
            var something = new Microsoft.FSharp.Core.FSharpValueOption<Guid>(); something._tag = 1;
            var choice = new Microsoft.FSharp.Core.FSharpChoice<int, string>.Choice2Of2(); choice.item = "second";
            var idle = new Microsoft.FSharp.Control.FSharpMailboxProcessor<string>(); idle.mailbox.savedCont = new object();
            var busy = new Microsoft.FSharp.Control.FSharpMailboxProcessor<string>(); busy.mailbox.arrivals.Enqueue("new"); busy.mailbox.inboxStore = new List<string>(); busy.mailbox.inboxStore.Add("passed over");
            Holder.Values = new object[] { Microsoft.FSharp.Collections.FSharpList<string>.Of("x", "y"), Microsoft.FSharp.Collections.FSharpList<string>.Of(), map, set, some, inner, ok, error, nothing, something, choice, idle, busy };
        }
        class Machine : IAsyncStateMachine // a class, as compilers make without optimization
        {
            public int State;
            public void MoveNext() { }
            public void SetStateMachine(IAsyncStateMachine m) { }
        }
        static void Pool() // a box that went back to the pool
        {
            var type = typeof(object).Assembly.GetType("System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder`1").MakeGenericType(typeof(int));
            object builder = type.GetMethod("Create").Invoke(null, null);
            var source = new TaskCompletionSource<int>();
            type.GetMethod("AwaitUnsafeOnCompleted").MakeGenericMethod(typeof(TaskAwaiter<int>), typeof(Machine)).Invoke(builder, new object[] { source.Task.GetAwaiter(), new Machine() });
            object task = type.GetProperty("Task").GetValue(builder);
            source.SetResult(1);
            type.GetMethod("SetResult").Invoke(builder, new object[] { 5 });
            object awaiter = task.GetType().GetMethod("GetAwaiter").Invoke(task, null);
            Holder.Pooled = task.GetType().GetField("_obj", BindingFlags.NonPublic | BindingFlags.Instance).GetValue(task);
            awaiter.GetType().GetMethod("GetResult").Invoke(awaiter, null);
        }
        static void WaitForMutex() { Holder.Gate.WaitOne(); }
        static void Own() // a Mutex that the main thread owns, and the handle of one of NativeAOT once its waiter is in the kernel
        {
            Holder.Gate.WaitOne();
            var waiter = new Thread(WaitForMutex); waiter.IsBackground = true; waiter.Name = "mutex waiter"; waiter.Start();
            while ((waiter.ThreadState & ThreadState.WaitSleepJoin) == 0) Thread.Sleep(10);
            Thread.Sleep(200);
            var state = new System.Threading.WaitSubsystem.WaitableObject();
            state._ownershipInfo = new System.Threading.WaitSubsystem.WaitableObject.OwnershipInfo(); state._ownershipInfo._thread = Thread.CurrentThread;
            typeof(SafeHandle).GetField("handle", BindingFlags.NonPublic | BindingFlags.Instance).SetValue(Holder.Gate.SafeWaitHandle, GCHandle.ToIntPtr(GCHandle.Alloc(state)));
        }
        public static void Main(string[] args)
        {
            Values(); Pool(); Own();
            var m = Holder.State._entityReferenceMap;
            Holder.State.Context = Holder.Used; Holder.State.ChangedCount = 3;
            m._unchangedReferenceMap = Microsoft.EntityFrameworkCore.ChangeTracking.Internal.EntityReferenceMap.Of(new Order(), new Order(), new Customer());
            m._modifiedReferenceMap = Microsoft.EntityFrameworkCore.ChangeTracking.Internal.EntityReferenceMap.Of(new Order());
            m._addedReferenceMap = Microsoft.EntityFrameworkCore.ChangeTracking.Internal.EntityReferenceMap.Of(new Customer(), new Customer());
            var shared = new Microsoft.EntityFrameworkCore.ChangeTracking.Internal.EntityReferenceMap();
            shared._unchangedReferenceMap = Microsoft.EntityFrameworkCore.ChangeTracking.Internal.EntityReferenceMap.Of(new Address(), new Address());
            m._hasSubMap = true;
            m._sharedTypeReferenceMap = new Dictionary<object, Microsoft.EntityFrameworkCore.ChangeTracking.Internal.EntityReferenceMap>();
            m._sharedTypeReferenceMap[new object()] = shared;
            Network(); Database(); Remote(); Serve(); Cached(); Lite(); Cache(); Connected(); Wait(); Failures(); Queues();
            // {"a":[1,22],"b":"x"} with the element of the array: rows of 12 bytes
            string text = "{\"a\":[1,22],\"b\":\"x\"}";
            byte[] utf8 = System.Text.Encoding.UTF8.GetBytes(text);
            var doc = new System.Text.Json.JsonDocument();
            doc._utf8Json = new ReadOnlyMemory<byte>(utf8);
            int[] rows = { 0, 2, (1 << 28) | 8,  2, 1, (5 << 28) | 1,  5, 2, (3 << 28) | 3,  6, 1, unchecked((int)0x80000001),  8, 2, unchecked((int)0x80000001),
                           10, 1, (4 << 28) | 3,  13, 1, (5 << 28) | 1,  17, 1, (7 << 28) | 1,  19, 1, (2 << 28) | 8 };
            byte[] data = new byte[128];
            Buffer.BlockCopy(rows, 0, data, 0, rows.Length * 4);
            doc._parsedData._data = data; doc._parsedData.Length = rows.Length * 4;
            var e = new System.Text.Json.JsonElement(); e._parent = doc; e._idx = 24;
            Holder.Array._jsonElement = e;
            Stuck.M.Start();
            Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new Type[] { typeof(string) }).Invoke(null, new object[] { "READY" });
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
