package web

import "github.com/sosgo/sosgo/objects"

// An anchor is an object that leads to requests: a context, a server's own object, or a clock.
type anchor struct {
	_ objects.Shape `of:"Microsoft.AspNetCore.Http.DefaultHttpContext|Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol|Microsoft.AspNetCore.Hosting.HostingApplication+Context|Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.DateHeaderValueManager+DateHeaderValues|Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Infrastructure.TimeoutControl"`
}

// An httpContext is the context of a request. Between two requests it has no features.
type httpContext struct {
	_        objects.Shape    `of:"Microsoft.AspNetCore.Http.DefaultHttpContext"`
	Features objects.RefField `field:"_features.<Collection>"`
}

// A protocol is Kestrel's object for an HTTP/1 connection or an HTTP/2 or 3 stream. It is also the feature collection
// of its request. The names come from 2.1 to 10; fields added by later versions are optional.
type protocol struct {
	_            objects.Shape    `of:"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol"`
	Status       objects.IntField `field:"_requestProcessingStatus"`
	Method       objects.IntField `field:"<Method>"`
	MethodText   objects.RefField `field:"_methodText,optional"`
	Version      objects.IntField `field:"_httpVersion"`
	Scheme       objects.RefField `field:"<Scheme>|_scheme"`
	PathBase     objects.RefField `field:"<PathBase>"`
	Path         objects.RefField `field:"<Path>"`
	Query        objects.RefField `field:"<QueryString>"`
	Target       objects.RefField `field:"<RawTarget>"`
	StatusCode   objects.IntField `field:"_statusCode"`
	Aborted      objects.IntField `field:"_connectionAborted"`
	Upgraded     objects.IntField `field:"<IsUpgraded>,optional"`
	Extended     objects.IntField `field:"<IsExtendedConnectAccepted>,optional"`
	RequestID    objects.RefField `field:"_requestId,optional"`
	Connection   objects.RefField `field:"<ConnectionIdFeature>,optional"`
	RemoteIP     objects.RefField `field:"<RemoteIpAddress>,optional"`
	RemotePort   objects.IntField `field:"<RemotePort>,optional"`
	LocalIP      objects.RefField `field:"<LocalIpAddress>,optional"`
	LocalPort    objects.IntField `field:"<LocalPort>,optional"`
	Headers      objects.RefField `field:"<RequestHeaders>"`
	Endpoint     objects.RefField `field:"_endpoint,optional"`
	EndpointSlot objects.RefField `field:"_currentIEndpointFeature,optional"`
	Activity     objects.RefField `field:"_currentIHttpActivityFeature,optional"`
	User         objects.RefField `field:"_currentIHttpAuthenticationFeature,optional"`
	Session      objects.RefField `field:"_currentISessionFeature,optional"`
	Error        objects.RefField `field:"_applicationException,optional"`
}

// An iisContext is the object of a request in an IIS worker process.
type iisContext struct {
	_          objects.Shape    `of:"Microsoft.AspNetCore.Server.IIS.Core.IISHttpContext"`
	Method     objects.RefField `field:"<Method>"`
	Scheme     objects.RefField `field:"<Scheme>"`
	PathBase   objects.RefField `field:"<PathBase>"`
	Path       objects.RefField `field:"<Path>"`
	Query      objects.RefField `field:"<QueryString>"`
	Target     objects.RefField `field:"<RawTarget>"`
	StatusCode objects.IntField `field:"_statusCode"`
	Started    objects.IntField `field:"_hasResponseStarted,optional"`
	Upgraded   objects.IntField `field:"_wasUpgraded,optional"`
	Connection objects.RefField `field:"<RequestConnectionId>,optional"`
	RequestID  objects.RefField `field:"<TraceIdentifier>,optional"`
	RemoteIP   objects.RefField `field:"<RemoteIpAddress>,optional"`
	RemotePort objects.IntField `field:"<RemotePort>,optional"`
	LocalIP    objects.RefField `field:"<LocalIpAddress>,optional"`
	LocalPort  objects.IntField `field:"<LocalPort>,optional"`
	Headers    objects.RefField `field:"<RequestHeaders>,optional"`
	User       objects.RefField `field:"<User>,optional"`
	UserSlot   objects.RefField `field:"_currentIHttpAuthenticationFeature,optional"` // the context itself, or a feature set by middleware
	Activity   objects.RefField `field:"_currentIHttpActivityFeature,optional"`
	Session    objects.RefField `field:"_currentISessionFeature,optional"`
}

// A sysContext is the object of a request in the HTTP.sys server. The names come from its sources and are not tested on
// a dump.
type sysContext struct {
	_       objects.Shape    `of:"Microsoft.AspNetCore.Server.HttpSys.RequestContext"`
	Request objects.RefField `field:"<Request>"`
}

type sysRequest struct {
	_        objects.Shape    `of:"Microsoft.AspNetCore.Server.HttpSys.Request"`
	Method   objects.RefField `field:"<Method>"`
	PathBase objects.RefField `field:"<PathBase>"`
	Path     objects.RefField `field:"<Path>"`
	Target   objects.RefField `field:"<RawUrl>"`
}

// Features in a FeatureCollection, set by TestServer, middleware or the program. The collection falls back to the
// server's own features.
type (
	featureCollection struct {
		_        objects.Shape    `of:"Microsoft.AspNetCore.Http.Features.FeatureCollection"`
		Features objects.RefField `field:"_features"`
		Defaults objects.RefField `field:"_defaults"`
	}
	sysFeatures struct {
		_       objects.Shape    `of:"Microsoft.AspNetCore.Server.HttpSys.StandardFeatureCollection"`
		Context objects.RefField `field:"_featureContext"` // since .NET 6 the request's own context
	}
	sysFeatureContext struct {
		_       objects.Shape    `of:"Microsoft.AspNetCore.Server.HttpSys.FeatureContext"`
		Context objects.RefField `field:"_requestContext"`
	}
	requestFeature struct {
		_        objects.Shape    `of:"Microsoft.AspNetCore.Http.Features.HttpRequestFeature"`
		Protocol objects.RefField `field:"<Protocol>"`
		Scheme   objects.RefField `field:"<Scheme>"`
		Method   objects.RefField `field:"<Method>"`
		PathBase objects.RefField `field:"<PathBase>"`
		Path     objects.RefField `field:"<Path>"`
		Query    objects.RefField `field:"<QueryString>"`
		Target   objects.RefField `field:"<RawTarget>"`
		Headers  objects.RefField `field:"<Headers>"`
	}
	responseFeature struct {
		_          objects.Shape    `of:"Microsoft.AspNetCore.Http.Features.HttpResponseFeature|Microsoft.AspNetCore.TestHost.ResponseFeature"`
		StatusCode objects.IntField `field:"<StatusCode>|_statusCode"`
	}
	endpointFeature struct {
		_        objects.Shape    `of:"Microsoft.AspNetCore.Http.EndpointHttpContextExtensions+EndpointFeature|Microsoft.AspNetCore.Routing.EndpointRoutingFeature"`
		Endpoint objects.RefField `field:"<Endpoint>"`
	}
	activityFeature struct {
		_        objects.Shape    `of:"Microsoft.AspNetCore.Hosting.HttpActivityFeature|Microsoft.AspNetCore.Hosting.ActivityFeature"`
		Activity objects.RefField `field:"<Activity>"`
	}
	userFeature struct {
		_    objects.Shape    `of:"Microsoft.AspNetCore.Http.Features.Authentication.HttpAuthenticationFeature|Microsoft.AspNetCore.Authentication.AuthenticationFeatures|Microsoft.AspNetCore.Authorization.Policy.AuthenticationFeatures"`
		User objects.RefField `field:"<User>|_user"`
	}
)

type endpoint struct {
	_    objects.Shape    `of:"Microsoft.AspNetCore.Http.Endpoint"`
	Name objects.RefField `field:"<DisplayName>"`
}

type routeEndpoint struct {
	_       objects.Shape    `of:"Microsoft.AspNetCore.Routing.RouteEndpoint"`
	Pattern objects.RefField `field:"<RoutePattern>"`
}

type routePattern struct {
	_    objects.Shape    `of:"Microsoft.AspNetCore.Routing.Patterns.RoutePattern"`
	Text objects.RefField `field:"<RawText>"`
}

// A hostContext is the hosting layer's record of a request. The time stamp is zero unless durations are measured.
type hostContext struct {
	_        objects.Shape    `of:"Microsoft.AspNetCore.Hosting.HostingApplication+Context"`
	Context  objects.RefField `field:"<HttpContext>"`
	Activity objects.RefField `field:"HttpActivityFeature|<Activity>,optional"`
	Start    objects.IntField `field:"<StartTimestamp>,optional"`
}

// dateValues holds the Date header that Kestrel sends. Its heartbeat renews it every second.
type dateValues struct {
	_    objects.Shape    `of:"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.DateHeaderValueManager+DateHeaderValues"`
	Text objects.RefField `field:"String"`
}

// A timeoutControl limits the time of a connection of Kestrel. The heartbeat passes it the time every second, since .NET 8 by the clock of
// Stopwatch; before, in ticks since the year 1.
type timeoutControl struct {
	_      objects.Shape    `of:"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Infrastructure.TimeoutControl"`
	Last   objects.IntField `field:"_lastTimestamp"`
	Second objects.IntField `field:"_heartbeatIntervalTicks,optional"`
}

// The user of a request.
type (
	principal struct {
		_          objects.Shape    `of:"System.Security.Claims.ClaimsPrincipal"`
		Identities objects.RefField `field:"_identities"`
	}
	identity struct {
		_      objects.Shape    `of:"System.Security.Claims.ClaimsIdentity"`
		Claims objects.RefField `field:"_instanceClaims"`
		Name   objects.RefField `field:"_nameClaimType"`
	}
	claim struct {
		_     objects.Shape    `of:"System.Security.Claims.Claim"`
		Type  objects.RefField `field:"_type"`
		Value objects.RefField `field:"_value"`
	}
)

// Request headers. Kestrel has a field for each known header and a dictionary for the others.
type (
	kestrelHeaders struct {
		_      objects.Shape       `of:"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpRequestHeaders"`
		Known  objects.StructField `field:"_headers"`
		Others objects.RefField    `field:"MaybeUnknown"`
	}
	headerDictionary struct {
		_     objects.Shape    `of:"Microsoft.AspNetCore.Http.HeaderDictionary"`
		Store objects.RefField `field:"<Store>"`
	}
	stringValues struct {
		_      objects.Shape    `of:"Microsoft.Extensions.Primitives.StringValues"`
		Values objects.RefField `field:"_values"`
	}
)

// A contextHolder flows with the code of a request.
type contextHolder struct {
	_       objects.Shape    `of:"Microsoft.AspNetCore.Http.HttpContextAccessor+HttpContextHolder"`
	Context objects.RefField `field:"Context"`
}
