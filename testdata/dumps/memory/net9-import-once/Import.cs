using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

namespace Depot
{
    public sealed class Row
    {
        public readonly byte[] Data = new byte[8000];
    }

    // An import reads 5,000 rows in, indexes them by two keys and works on them: they live until it ends. With "forever" it begins again and again, and Main keeps the rows.
    public static class Import
    {
        static volatile int sum;

        static Dictionary<int, Row> Read()
        {
            var rows = new Dictionary<int, Row>();
            for (int i = 0; i < 5000; i++)
                rows[i] = new Row();
            return rows;
        }

        static void Work(Dictionary<int, Row> rows, List<Row> order)
        {
            foreach (var row in order)
            {
                Console.WriteLine("READY");
                Thread.Sleep(1000000);
                sum += row.Data.Length + rows.Count;
            }
        }

        static void Forever(Dictionary<int, Row> rows, List<Row> order)
        {
            while (true)
                Work(rows, order);
        }

        public static void Main(string[] args)
        {
            var rows = Read();
            var order = rows.Values.Reverse().ToList();
            if (args[0] == "forever")
                Forever(rows, order);
            else
                Work(rows, order);
        }
    }
}
