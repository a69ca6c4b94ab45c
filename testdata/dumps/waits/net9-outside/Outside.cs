// Threads and operations that wait for child processes and for the server of a named pipe. It needs a process that accepts the pipes depot-mute and
// depot-feed and does not write.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.IO.Pipes;
using System.Threading;
using System.Threading.Tasks;
class System_Private_CoreLib { const ulong A = 0x8e79a7bed785ec7c; const ulong B = 0x3a0ad5117f5f3fb0; }
class System_Diagnostics_Process { }
class System_IO_Pipes { }
namespace Depot
{
    public sealed class Converter
    {
        public Process Child;
        public Converter(string file, string argument) { Child = Process.Start(new ProcessStartInfo(file, argument) { RedirectStandardOutput = true, UseShellExecute = false }); }
        public void Convert() { Child.WaitForExit(); Program.Spin++; }
        public void Collect() { Child.StandardOutput.ReadToEnd(); Program.Spin++; }
        public async Task ConvertAsync() { await (Task)typeof(Process).GetMethod("WaitForExitAsync").Invoke(Child, new object[] { default(CancellationToken) }); Program.Spin++; }
        public async Task CollectAsync() { await Child.StandardOutput.ReadToEndAsync(); Program.Spin++; }
    }
    public sealed class Label
    {
        NamedPipeClientStream pipe;
        public Label(string name) { pipe = new NamedPipeClientStream(".", name, PipeDirection.InOut, PipeOptions.Asynchronous); }
        public void Open() { pipe.Connect(); }
        public void Ask() { pipe.WriteByte(1); pipe.ReadByte(); Program.Spin++; }
        public async Task AskLineAsync() { var r = new StreamReader(pipe); await r.ReadLineAsync(); Program.Spin++; }
        public void Listen() { while (true) { pipe.ReadByte(); Program.Spin++; } }
        public async Task ListenAsync() { var b = new byte[4]; while (true) { await pipe.ReadAsync(b, 0, 4); Program.Spin++; } }
        public void Find() { pipe.Connect(3600000); Program.Spin++; }
    }
    public static class Program
    {
        public static int Spin;
        static readonly List<object> keep = new List<object>();
        static void Run(string name, ThreadStart body) { new Thread(body) { Name = name, IsBackground = true }.Start(); }
        static void Serve()
        {
            var s = new NamedPipeServerStream("depot-own", PipeDirection.InOut, 4, PipeTransmissionMode.Byte, PipeOptions.None);
            keep.Add(s); s.WaitForConnection(); Spin++;
        }
        static async Task ServeAsync()
        {
            var s = new NamedPipeServerStream("depot-own-async", PipeDirection.InOut, 4, PipeTransmissionMode.Byte, PipeOptions.Asynchronous);
            keep.Add(s); await s.WaitForConnectionAsync(); Spin++;
        }
        static Converter Keep(string file, string argument) { var c = new Converter(file, argument); keep.Add(c); return c; }
        public static void Main(string[] args)
        {
            int n = 6;
            for (int i = 0; i < n; i++)
            {
                Run("converter " + i, Keep("/bin/sleep", "600").Convert);
                Run("collector " + i, Keep("/bin/sleep", "600").Collect);
                keep.Add(Keep("/bin/sleep", "600").ConvertAsync());
                keep.Add(Keep("/bin/sleep", "600").CollectAsync());
                var asks = new Label("depot-mute"); keep.Add(asks);
                Run("label " + i, () => { asks.Open(); asks.Ask(); });
                var later = new Label("depot-mute"); keep.Add(later);
                later.Open(); keep.Add(later.AskLineAsync());
                var none = new Label("depot-none"); keep.Add(none);
                Run("finder " + i, none.Find);
                var feed = new Label("depot-feed"); keep.Add(feed);
                feed.Open(); Run("feed " + i, feed.Listen); 
                var news = new Label("depot-feed"); keep.Add(news);
                news.Open(); keep.Add(news.ListenAsync());
            }
            for (int i = 0; i < 3; i++) Run("young " + i, Keep("/usr/bin/tail", "-f /dev/null").Convert);
            Run("server", Serve); keep.Add(ServeAsync());
            Thread.Sleep(3000);
            Type con = Type.GetType("System.Console, System.Console");
            con.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { "READY " + Process.GetCurrentProcess().Id });
            Thread.Sleep(3600000);
        }
    }
}
