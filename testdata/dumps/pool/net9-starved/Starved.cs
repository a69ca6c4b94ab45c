// A service that blocks on async calls, with more callers than workers: .NET 9.0.5, C# 12 by Roslyn with optimization, dumped by createdump some seconds
// after its start. Nothing of a request flows with its code: no IHttpContextAccessor, no tracing, no scope of logging.
using System;
using System.IO;
using System.Linq;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Backoffice
{
    public sealed class CustomerClient
    {
        public async Task<string> GetAsync(int id) { await Task.Delay(60).ConfigureAwait(false); return "customer " + id; }
    }

    public sealed class CustomerService(CustomerClient client)
    {
        public string Get(int id) => client.GetAsync(id).Result; // tier 1 inlines it into the endpoint, a compiled expression tree
    }

    public static class StarveMain
    {
        public static async Task Run()
        {
            var builder = WebApplication.CreateSlimBuilder();
            builder.Logging.ClearProviders();
            builder.WebHost.UseUrls("http://127.0.0.1:0");
            builder.Services.AddSingleton<CustomerClient>();
            builder.Services.AddSingleton<CustomerService>();
            var app = builder.Build();
            app.MapGet("/customer/{id:int}", (int id, CustomerService s) => s.Get(id) + s.Get(id + 1));
            await app.StartAsync();
            int port = new Uri(app.Urls.First()).Port;
            for (int i = 0; i < 150; i++)
            {
                int n = i;
                new Thread(() => Load(port, n)) { IsBackground = true, Name = "load " + n }.Start();
            }
            await Task.Delay(-1);
        }

        static void Load(int port, int n)
        {
            Thread.Sleep(500);
            while (true)
                try
                {
                    using var client = new TcpClient("127.0.0.1", port);
                    var stream = client.GetStream();
                    var buffer = new byte[4096];
                    while (true)
                    {
                        stream.Write(Encoding.ASCII.GetBytes("GET /customer/" + n + " HTTP/1.1\r\nHost: x\r\n\r\n"));
                        if (stream.Read(buffer) == 0)
                            break;
                    }
                }
                catch (IOException) { }
        }
    }
}
