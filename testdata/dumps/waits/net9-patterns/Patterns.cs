// Patterns: threads that match regular expressions. Two match with patterns that take exponential time, one of them compiled; one has a time limit,
// and one matches again and again with a pattern that takes linear time.
using System;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using System.Threading;
namespace Clerk
{
    public static class Checks
    {
        static readonly Regex mail = new Regex("^([a-z]+)+@[a-z]+$"), names = new Regex(@"^(\w+\s?)+$", RegexOptions.Compiled), limited = new Regex("^(a+)+$", RegexOptions.None, TimeSpan.FromHours(1)), linear = new Regex(@"^(\d+,)+x$");
        public static long n;
        [MethodImpl(MethodImplOptions.NoInlining)] public static void Mail(string s) { if (mail.IsMatch(s)) n++; }
        [MethodImpl(MethodImplOptions.NoInlining)] public static void Names(string s) { if (names.IsMatch(s)) n++; }
        [MethodImpl(MethodImplOptions.NoInlining)] public static void Limited(string s) { if (limited.IsMatch(s)) n++; }
        [MethodImpl(MethodImplOptions.NoInlining)] public static void Linear(string s) { while (true) if (linear.IsMatch(s)) n++; }
        static void Start(string name, Action a) { new Thread(() => a()) { Name = name, IsBackground = true }.Start(); }
        public static void Main()
        {
            Start("mail 1", () => Mail(new string('a', 40) + "!"));
            Start("mail 2", () => Mail(new string('b', 50) + "!"));
            Start("names", () => Names(new string('c', 60) + "!"));
            Start("limited", () => Limited(new string('a', 60) + "!"));
            string digits = new string('7', 2000).Replace("7", "77,"); Start("linear", () => Linear(digits));
            Thread.Sleep(3000); Console.WriteLine("READY"); Thread.Sleep(-1);
        }
    }
}
