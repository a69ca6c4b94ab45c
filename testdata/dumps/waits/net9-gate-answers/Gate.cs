// A semaphore of 3 around calls of HttpClient, with a time limit of 60 s, and a timer each half second. "answers": the server answers after 20 ms, and 12 callers take turns. "silent": it stops to answer 2 s after
// the start. "repeats": who has entered asks again and again until the server is ready, which it never is.
using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Customs;

sealed class Tariffs(HttpClient http, bool untilReady)
{
    readonly SemaphoreSlim three = new(3, 3);

    public async Task Get()
    {
        await three.WaitAsync();
        try
        {
            if (untilReady)
                while (!(await http.GetStringAsync("/ready")).Contains("yes")) { }
            else
                await http.GetStringAsync("/tariff");
        }
        finally
        {
            three.Release();
        }
    }
}

static class Program
{
    static volatile bool silent;
    static int beats;
    static Timer heart;

    static void Main(string[] args)
    {
        TcpListener listener = new(IPAddress.Loopback, 0);
        listener.Start();
        new Thread(() => { while (true) { TcpClient c = listener.AcceptTcpClient(); new Thread(() => Serve(c)) { IsBackground = true }.Start(); } }) { IsBackground = true, Name = "port" }.Start();
        HttpClient http = new() { BaseAddress = new Uri("http://127.0.0.1:" + ((IPEndPoint)listener.LocalEndpoint).Port), Timeout = TimeSpan.FromSeconds(60) };
        Tariffs tariffs = new(http, args[0] == "repeats");
        List<Task> all = [];
        for (int i = 0; i < 12; i++) all.Add(Task.Run(async () => { while (true) await tariffs.Get(); }));
        Thread.Sleep(2000);
        heart = new Timer(_ => beats++, null, 500, 500);
        silent = args[0] == "silent";
        Console.WriteLine("READY");
        Task.WaitAll(all.ToArray());
    }

    static void Serve(TcpClient client)
    {
        NetworkStream s = client.GetStream();
        StreamReader r = new(s);
        while (true)
        {
            string line;
            while (!string.IsNullOrEmpty(line = r.ReadLine())) { }
            if (line == null) return;
            if (silent) Thread.Sleep(Timeout.Infinite);
            Thread.Sleep(20);
            s.Write(Encoding.ASCII.GetBytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"));
        }
    }
}
