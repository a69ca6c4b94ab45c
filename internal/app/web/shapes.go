package web

import "github.com/sosgo/sosgo/objects/shapes"

// An anchor is an object that leads to requests: a context, a server's own object, or a clock.
type anchor struct {
	_ shapes.Type `of:"Microsoft.AspNetCore.Http.DefaultHttpContext|Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol|Microsoft.AspNetCore.Hosting.HostingApplication+Context|Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.DateHeaderValueManager+DateHeaderValues"`
}

// An httpContext is the context of a request. Between two requests it has no features.
type httpContext struct {
	_        shapes.Type `of:"Microsoft.AspNetCore.Http.DefaultHttpContext"`
	Features shapes.Ref  `field:"_features.<Collection>"`
}

// A protocol is Kestrel's object for an HTTP/1 connection or an HTTP/2 or 3 stream. It is also the feature collection
// of its request. The names come from 2.1 to 10; fields added by later versions are optional.
type protocol struct {
	_            shapes.Type `of:"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol"`
	Status       shapes.Int  `field:"_requestProcessingStatus"`
	Method       shapes.Int  `field:"<Method>"`
	MethodText   shapes.Ref  `field:"_methodText,optional"`
	Version      shapes.Int  `field:"_httpVersion"`
	Scheme       shapes.Ref  `field:"<Scheme>|_scheme"`
	PathBase     shapes.Ref  `field:"<PathBase>"`
	Path         shapes.Ref  `field:"<Path>"`
	Query        shapes.Ref  `field:"<QueryString>"`
	Target       shapes.Ref  `field:"<RawTarget>"`
	StatusCode   shapes.Int  `field:"_statusCode"`
	Aborted      shapes.Int  `field:"_connectionAborted"`
	Upgraded     shapes.Int  `field:"<IsUpgraded>,optional"`
	Extended     shapes.Int  `field:"<IsExtendedConnectAccepted>,optional"`
	RequestID    shapes.Ref  `field:"_requestId,optional"`
	Connection   shapes.Ref  `field:"<ConnectionIdFeature>,optional"`
	RemoteIP     shapes.Ref  `field:"<RemoteIpAddress>,optional"`
	RemotePort   shapes.Int  `field:"<RemotePort>,optional"`
	LocalIP      shapes.Ref  `field:"<LocalIpAddress>,optional"`
	LocalPort    shapes.Int  `field:"<LocalPort>,optional"`
	Headers      shapes.Ref  `field:"<RequestHeaders>"`
	Endpoint     shapes.Ref  `field:"_endpoint,optional"`
	EndpointSlot shapes.Ref  `field:"_currentIEndpointFeature,optional"`
	Activity     shapes.Ref  `field:"_currentIHttpActivityFeature,optional"`
	User         shapes.Ref  `field:"_currentIHttpAuthenticationFeature,optional"`
	Session      shapes.Ref  `field:"_currentISessionFeature,optional"`
	Error        shapes.Ref  `field:"_applicationException,optional"`
}

// An iisContext is the object of a request in an IIS worker process.
type iisContext struct {
	_          shapes.Type `of:"Microsoft.AspNetCore.Server.IIS.Core.IISHttpContext"`
	Method     shapes.Ref  `field:"<Method>"`
	Scheme     shapes.Ref  `field:"<Scheme>"`
	PathBase   shapes.Ref  `field:"<PathBase>"`
	Path       shapes.Ref  `field:"<Path>"`
	Query      shapes.Ref  `field:"<QueryString>"`
	Target     shapes.Ref  `field:"<RawTarget>"`
	StatusCode shapes.Int  `field:"_statusCode"`
	Started    shapes.Int  `field:"_hasResponseStarted,optional"`
	Upgraded   shapes.Int  `field:"_wasUpgraded,optional"`
	Connection shapes.Ref  `field:"<RequestConnectionId>,optional"`
	RequestID  shapes.Ref  `field:"<TraceIdentifier>,optional"`
	RemoteIP   shapes.Ref  `field:"<RemoteIpAddress>,optional"`
	RemotePort shapes.Int  `field:"<RemotePort>,optional"`
	LocalIP    shapes.Ref  `field:"<LocalIpAddress>,optional"`
	LocalPort  shapes.Int  `field:"<LocalPort>,optional"`
	Headers    shapes.Ref  `field:"<RequestHeaders>,optional"`
	User       shapes.Ref  `field:"<User>,optional"`
	UserSlot   shapes.Ref  `field:"_currentIHttpAuthenticationFeature,optional"` // the context itself, or a feature set by middleware
	Activity   shapes.Ref  `field:"_currentIHttpActivityFeature,optional"`
	Session    shapes.Ref  `field:"_currentISessionFeature,optional"`
}

// A sysContext is the object of a request in the HTTP.sys server. The names come from its sources and are not tested on
// a dump.
type sysContext struct {
	_       shapes.Type `of:"Microsoft.AspNetCore.Server.HttpSys.RequestContext"`
	Request shapes.Ref  `field:"<Request>"`
}

type sysRequest struct {
	_        shapes.Type `of:"Microsoft.AspNetCore.Server.HttpSys.Request"`
	Method   shapes.Ref  `field:"<Method>"`
	PathBase shapes.Ref  `field:"<PathBase>"`
	Path     shapes.Ref  `field:"<Path>"`
	Target   shapes.Ref  `field:"<RawUrl>"`
}

// Features in a FeatureCollection, set by TestServer, middleware or the program. The collection falls back to the
// server's own features.
type (
	featureCollection struct {
		_        shapes.Type `of:"Microsoft.AspNetCore.Http.Features.FeatureCollection"`
		Features shapes.Ref  `field:"_features"`
		Defaults shapes.Ref  `field:"_defaults"`
	}
	sysFeatures struct {
		_       shapes.Type `of:"Microsoft.AspNetCore.Server.HttpSys.StandardFeatureCollection"`
		Context shapes.Ref  `field:"_featureContext"` // since .NET 6 the request's own context
	}
	sysFeatureContext struct {
		_       shapes.Type `of:"Microsoft.AspNetCore.Server.HttpSys.FeatureContext"`
		Context shapes.Ref  `field:"_requestContext"`
	}
	requestFeature struct {
		_        shapes.Type `of:"Microsoft.AspNetCore.Http.Features.HttpRequestFeature"`
		Protocol shapes.Ref  `field:"<Protocol>"`
		Scheme   shapes.Ref  `field:"<Scheme>"`
		Method   shapes.Ref  `field:"<Method>"`
		PathBase shapes.Ref  `field:"<PathBase>"`
		Path     shapes.Ref  `field:"<Path>"`
		Query    shapes.Ref  `field:"<QueryString>"`
		Target   shapes.Ref  `field:"<RawTarget>"`
		Headers  shapes.Ref  `field:"<Headers>"`
	}
	responseFeature struct {
		_          shapes.Type `of:"Microsoft.AspNetCore.Http.Features.HttpResponseFeature|Microsoft.AspNetCore.TestHost.ResponseFeature"`
		StatusCode shapes.Int  `field:"<StatusCode>|_statusCode"`
	}
	endpointFeature struct {
		_        shapes.Type `of:"Microsoft.AspNetCore.Http.EndpointHttpContextExtensions+EndpointFeature|Microsoft.AspNetCore.Routing.EndpointRoutingFeature"`
		Endpoint shapes.Ref  `field:"<Endpoint>"`
	}
	activityFeature struct {
		_        shapes.Type `of:"Microsoft.AspNetCore.Hosting.HttpActivityFeature|Microsoft.AspNetCore.Hosting.ActivityFeature"`
		Activity shapes.Ref  `field:"<Activity>"`
	}
	userFeature struct {
		_    shapes.Type `of:"Microsoft.AspNetCore.Http.Features.Authentication.HttpAuthenticationFeature|Microsoft.AspNetCore.Authentication.AuthenticationFeatures|Microsoft.AspNetCore.Authorization.Policy.AuthenticationFeatures"`
		User shapes.Ref  `field:"<User>|_user"`
	}
)

type endpoint struct {
	_    shapes.Type `of:"Microsoft.AspNetCore.Http.Endpoint"`
	Name shapes.Ref  `field:"<DisplayName>"`
}

type routeEndpoint struct {
	_       shapes.Type `of:"Microsoft.AspNetCore.Routing.RouteEndpoint"`
	Pattern shapes.Ref  `field:"<RoutePattern>"`
}

type routePattern struct {
	_    shapes.Type `of:"Microsoft.AspNetCore.Routing.Patterns.RoutePattern"`
	Text shapes.Ref  `field:"<RawText>"`
}

// A hostContext is the hosting layer's record of a request. The time stamp is zero unless durations are measured.
type hostContext struct {
	_        shapes.Type `of:"Microsoft.AspNetCore.Hosting.HostingApplication+Context"`
	Context  shapes.Ref  `field:"<HttpContext>"`
	Activity shapes.Ref  `field:"HttpActivityFeature|<Activity>,optional"`
}

// dateValues holds the Date header that Kestrel sends. Its heartbeat renews it every second.
type dateValues struct {
	_    shapes.Type `of:"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.DateHeaderValueManager+DateHeaderValues"`
	Text shapes.Ref  `field:"String"`
}

// The user of a request.
type (
	principal struct {
		_          shapes.Type `of:"System.Security.Claims.ClaimsPrincipal"`
		Identities shapes.Ref  `field:"_identities"`
	}
	identity struct {
		_      shapes.Type `of:"System.Security.Claims.ClaimsIdentity"`
		Claims shapes.Ref  `field:"_instanceClaims"`
		Name   shapes.Ref  `field:"_nameClaimType"`
	}
	claim struct {
		_     shapes.Type `of:"System.Security.Claims.Claim"`
		Type  shapes.Ref  `field:"_type"`
		Value shapes.Ref  `field:"_value"`
	}
)

// Request headers. Kestrel has a field for each known header and a dictionary for the others.
type (
	kestrelHeaders struct {
		_      shapes.Type   `of:"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpRequestHeaders"`
		Known  shapes.Struct `field:"_headers"`
		Others shapes.Ref    `field:"MaybeUnknown"`
	}
	headerDictionary struct {
		_     shapes.Type `of:"Microsoft.AspNetCore.Http.HeaderDictionary"`
		Store shapes.Ref  `field:"<Store>"`
	}
	stringValues struct {
		_      shapes.Type `of:"Microsoft.Extensions.Primitives.StringValues"`
		Values shapes.Ref  `field:"_values"`
	}
)

type ipAddress struct {
	_       shapes.Type `of:"System.Net.IPAddress"`
	Number  shapes.Int  `field:"_addressOrScopeId"`
	Numbers shapes.Ref  `field:"_numbers"`
}

// A contextHolder flows with the code of a request.
type contextHolder struct {
	_       shapes.Type `of:"Microsoft.AspNetCore.Http.HttpContextAccessor+HttpContextHolder"`
	Context shapes.Ref  `field:"Context"`
}
