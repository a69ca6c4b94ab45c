// Sockets: threads that wait for the network. One has a lock meanwhile and reads from a server, the workers of the pool read from another one, and a
// thread reads what a client sends. The program prints the ports of the servers.
using System;
using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
namespace Quay
{
    public static class Desk
    {
        static readonly object ledger = new object(); static int entries; static Socket kept;
        static int Mute(out Socket l) { l = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp); l.Bind(new IPEndPoint(IPAddress.Loopback, 0)); l.Listen(200); return ((IPEndPoint)l.LocalEndPoint).Port; }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Ask(int port) { var c = new TcpClient("127.0.0.1", port); c.GetStream().WriteByte(7); c.GetStream().ReadByte(); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Post(int port) { lock (ledger) Ask(port); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Enter() { lock (ledger) entries++; }
        static void Serve(Socket l) { var s = l.Accept(); s.Receive(new byte[1]); s.Receive(new byte[1]); }
        static void Start(string name, Action a) { new Thread(() => a()) { Name = name, IsBackground = true }.Start(); }
        public static void Main()
        {
            Socket one, two, own; int rates = Mute(out one), bank = Mute(out two), here = Mute(out own);
            Start("server", () => Serve(own)); kept = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp); kept.Connect(IPAddress.Loopback, here); kept.Send(new byte[1]);
            Start("poster", () => Post(bank)); Thread.Sleep(200);
            for (int i = 0; i < 4; i++) Start("clerk " + i, Enter);
            for (int i = 0; i < 40; i++) Task.Run(() => Ask(rates));
            Thread.Sleep(2500); Console.WriteLine("READY bank " + bank + " rates " + rates); Thread.Sleep(-1);
        }
    }
}
