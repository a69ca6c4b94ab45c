package words

// Conclusions of app/web and app/hosting, and of app/locks about type initializers.
var (
	ClientsUnshared = say("unshared clients", "{pools} pools of connections lead to {host}:{port}: HttpClients are made for each use, and not shared")
	HandlersOnHeap  = say("handlers on the heap", "{handlers} SocketsHttpHandlers on the heap, each with pools of its own")
	ClientsKept     = say("clients kept", "{clients} HttpClients are not disposed and belong to no IHttpClientFactory")

	Backlog      = say("redis backlog", "{least?}{commands} commands wait to be sent to {server}, which is {state}")
	OneInBacklog = say("redis backlog of one", "{least?}a command waits to be sent to {server}, which is {state}")
	AtLeast      = say("at least", "at least ")
	BacklogOf    = say("backlog of a bridge", "the backlog of PhysicalBridge {bridge}{first?}")
	FirstCommand = say("first command of a backlog", ", the first command ({command}) since {time}")

	ServiceFailed  = say("hosted service failed", "the hosted service {type} failed{exception?}{effect?}")
	ExecuteFaulted = say("task of a service failed", "the task {task} of its ExecuteAsync is Faulted")
	HostGoesOn     = say("host goes on", "; the host goes on without it (BackgroundServiceExceptionBehavior.Ignore)")
	HostStops      = say("host stops for a service", "; the host stops when a service fails (BackgroundServiceExceptionBehavior.StopHost), and is stopping")
	HostStopping   = say("host stopping", "the host is stopping{waits?}")
	HostOfStopping = say("host of a program stopping", "the host of {program} is stopping{waits?}")
	StopWaits      = say("services that a host stops", " and waits for StopAsync of {services}")
	ServiceWaits   = say("service that stops", "{type}{wait?}")
	WhichWaitsFor  = say("what code waits for", ", which waits for {thing}")
	TokenCanceled  = say("tokens of a host", "the token ApplicationStopping of host {host} is canceled, and ApplicationStopped is not")
	StopStandsAt   = say("stop of a host stands at", "the suspended Host.StopAsync stands at the service {service}")

	InitializerFailed = say("initializer failed", "the initializer of {type} failed{exception?}")
	ClassMarked       = say("class marked as failed", "the class {class} is marked so, and every use of it throws a TypeInitializationException")
)
