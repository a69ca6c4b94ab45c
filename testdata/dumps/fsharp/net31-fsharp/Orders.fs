module Shop.Orders
open System
open System.Threading
open System.Threading.Tasks
open System.Collections.Generic

type Size = Small | Medium | Large of int
type Shape =
  | Circle of radius: float
  | Rect of width: float * height: float
  | Named of string * Shape
type Line = { Sku: string; Count: int; Price: decimal option }
type Customer = { Name: string; Lines: Line list; Tags: Map<string, int>; Seen: Set<int> }

type Message =
  | Add of int
  | Get of AsyncReplyChannel<int>

let agent =
  MailboxProcessor.Start(fun inbox ->
    let rec loop n = async {
      let! m = inbox.Receive()
      match m with
      | Add k -> return! loop (n + k)
      | Get reply -> reply.Reply n; return! loop n }
    loop 0)

let stuck =
  MailboxProcessor.Start(fun inbox -> async {
      let! m = inbox.Receive()
      do! Async.Sleep 10000000
      match m with
      | Add k -> return ()
      | Get reply -> reply.Reply 1 })

let gate = new SemaphoreSlim(1, 1)
let customers = ResizeArray<Customer>()
let mutable keep : obj list = []

let loadOrder (id: int) = async {
    do! gate.WaitAsync() |> Async.AwaitTask
    let! x = Async.AwaitTask (Task.Delay(Timeout.Infinite) )
    gate.Release() |> ignore
    return id }

let pipeline (id: int) = async {
    let! a = loadOrder id
    return a + 1 }

let tcs = TaskCompletionSource<int>()
let waitsForTcs = async {
    let! v = Async.AwaitTask tcs.Task
    printfn "%d" v }

let rec fact n = if n = 0 then failwith "no such order" else n * fact (n - 1)

let lazyTotal = lazy (Thread.Sleep(Timeout.Infinite); 42)

[<EntryPoint>]
let main argv =
    for i in 1 .. 20 do
        customers.Add { Name = sprintf "customer %d" i; Lines = [ for j in 1 .. 3 -> { Sku = sprintf "sku-%d" j; Count = j; Price = (if j = 2 then None else Some (decimal j)) } ]
                        Tags = Map.ofList [ "vip", i; "age", 2 * i ]; Seen = Set.ofList [ 1 .. i ] }
    keep <- [ box (Circle 2.5); box (Rect (1.0, 2.0)); box (Named ("x", Circle 1.0)); box Small; box (Large 3); box (Some 5); box [| 1; 2 |]; box (fun x -> x + 1); box (1, "two", 3.0); box (struct (1, 2)); box (Ok 3 : Result<int, string>); box (seq { 1 .. 3 }) ]
    for i in 1 .. 5 do agent.Post (Add i)
    stuck.Post (Add 1); stuck.Post (Add 2); stuck.Post (Add 3)
    for i in 1 .. 4 do Async.Start (pipeline i |> Async.Ignore)
    let t = Async.StartAsTask (pipeline 99)
    Async.Start waitsForTcs
    let th = Thread((fun () -> lazyTotal.Force() |> ignore), Name = "forces lazy")
    th.IsBackground <- true
    th.Start()
    let th2 = Thread((fun () -> Thread.Sleep 200; lazyTotal.Force() |> ignore), Name = "waits for lazy")
    th2.IsBackground <- true
    th2.Start()
    let bg = Async.StartAsTask (async { return fact 3 })
    let th3 = Thread((fun () -> Async.RunSynchronously (pipeline 7) |> ignore), Name = "runs sync")
    th3.IsBackground <- true
    th3.Start()
    Thread.Sleep 1500
    printfn "READY"
    if argv.Length > 0 then fact 3 |> printfn "%d"
    Thread.Sleep Timeout.Infinite
    0
