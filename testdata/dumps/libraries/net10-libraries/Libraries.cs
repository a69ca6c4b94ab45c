// Classes with the names and fields that libraries have: EF Core 9, Grpc.AspNetCore 2, System.Text.Json 10.
using System;
using System.Collections.Generic;
using System.Threading;
namespace System.Private.CoreLib { internal static class Anchor { } }
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
namespace System.Text.Json
{
    public sealed class JsonDocument
    {
        public struct MetadataDb { public int Length { get; set; } public byte[] _data; }
        public ReadOnlyMemory<byte> _utf8Json; public MetadataDb _parsedData;
    }
    public struct JsonElement { public JsonDocument _parent; public int _idx; }
}
namespace System.Text.Json.Nodes
{
    public class JsonArray { public JsonElement? _jsonElement; public List<object> _list; }
    public class JsonObject { public JsonElement? _jsonElement; public List<object> _dictionary; }
}
namespace Fakes
{
    public class Order { public int Id; }
    public class Customer { public string Name; }
    public class ShopContext : Microsoft.EntityFrameworkCore.DbContext { public ShopContext(bool d) : base(d) { } }
    public static class Holder
    {
        public static ShopContext Used = new ShopContext(false), Unused = new ShopContext(false), Gone = new ShopContext(true);
        public static Microsoft.EntityFrameworkCore.ChangeTracking.Internal.StateManager State = new Microsoft.EntityFrameworkCore.ChangeTracking.Internal.StateManager();
        public static System.Text.Json.Nodes.JsonArray Array = new System.Text.Json.Nodes.JsonArray();
    }
    public static class Program
    {
        public static void Main(string[] args)
        {
            var m = Holder.State._entityReferenceMap;
            Holder.State.Context = Holder.Used; Holder.State.ChangedCount = 3;
            m._unchangedReferenceMap = Microsoft.EntityFrameworkCore.ChangeTracking.Internal.EntityReferenceMap.Of(new Order(), new Order(), new Customer());
            m._modifiedReferenceMap = Microsoft.EntityFrameworkCore.ChangeTracking.Internal.EntityReferenceMap.Of(new Order());
            m._addedReferenceMap = Microsoft.EntityFrameworkCore.ChangeTracking.Internal.EntityReferenceMap.Of(new Customer(), new Customer());
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
            Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new Type[] { typeof(string) }).Invoke(null, new object[] { "READY" });
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
