using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Downloads
{
    // A Channel writes one message after the other to a response. Eight senders take turns.
    public sealed class Channel
    {
        readonly HttpResponse to;
        readonly SemaphoreSlim turn = new(1, 1);

        public Channel(HttpResponse to) => this.to = to;

        public async Task Send(byte[] message)
        {
            await turn.WaitAsync();
            try
            {
                await to.Body.WriteAsync(message);
                await to.Body.FlushAsync();
            }
            finally
            {
                turn.Release();
            }
        }
    }

    // A web server and a client of its own that sends a request and never reads the response. Nothing is wrong with the server: its flush waits for the client.
    public static class Program
    {
        public static async Task Main()
        {
            var message = new byte[1 << 20];
            var b = WebApplication.CreateBuilder();
            b.Logging.ClearProviders();
            b.WebHost.UseUrls("http://127.0.0.1:0");
            var app = b.Build();
            app.MapGet("/feed", async (HttpContext c) =>
            {
                var channel = new Channel(c.Response);
                await Task.WhenAll(Enumerable.Range(0, 8).Select(async sender => { for (int i = 0; i < 20; i++) await channel.Send(message); }));
            });
            await app.StartAsync();
            var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveBufferSize = 4096 };
            await client.ConnectAsync(IPAddress.Loopback, new Uri(app.Urls.First()).Port);
            await client.SendAsync(Encoding.ASCII.GetBytes("GET /feed HTTP/1.1\r\nHost: x\r\n\r\n"));
            Console.WriteLine("READY");
            await app.WaitForShutdownAsync();
            GC.KeepAlive(client);
        }
    }
}
