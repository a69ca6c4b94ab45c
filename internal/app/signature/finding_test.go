package signature

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

func sites(names ...string) (out []answer.Site) {
	for _, n := range names {
		out = append(out, answer.Site{Method: answer.Text{S: n}, Does: "monitor"})
	}
	return out
}

// TestCircle checks that a cycle has one signature for any starting point and any number of repetitions.
func TestCircle(t *testing.T) {
	one := Finding(answer.FindingDeadlock, sites("Shop.B()+0x1", "Shop.A()", "Shop.C()"), nil)
	assert.Equal(t, []string{"deadlock", "Shop.A monitor", "Shop.C monitor", "Shop.B monitor"}, one.SignatureParts)
	assert.Equal(t, answer.SignatureStrong, one.SignatureStrength)
	assert.Equal(t, FindingVersion, one.SignatureVersion)
	assert.Equal(t, one, Finding(answer.FindingCircle, sites("Shop.C()", "Shop.B()", "Shop.A()"), nil))
	assert.NotEqual(t, one.Signature, Finding(answer.FindingDeadlock, sites("Shop.A()", "Shop.B()", "Shop.C()"), nil).Signature, "in the other direction")
	assert.Equal(t, []string{"deadlock", "Shop.A monitor"}, Finding(answer.FindingDeadlock, sites("Shop.A()", "Shop.A()", "Shop.A()"), nil).SignatureParts)
	assert.Equal(t, []string{"deadlock", "Shop.A monitor", "Shop.B monitor"}, Finding(answer.FindingDeadlock, sites("Shop.B()", "Shop.A()", "Shop.B()", "Shop.A()"), nil).SignatureParts)
	unread := append(sites("Shop.A()"), answer.Site{Method: answer.Text{Err: errors.New("no module file")}, Does: "monitor"})
	assert.Equal(t, answer.SignatureWeak, Finding(answer.FindingDeadlock, unread, nil).SignatureStrength)
}

// TestCrowd checks that the most frequent site identifies a finding, weakly if most wait elsewhere.
func TestCrowd(t *testing.T) {
	list := sites("Shop.A()", "Shop.B()", "Shop.B()")
	id := Finding(answer.FindingStarved, list, nil)
	assert.Equal(t, []string{"starved thread pool", "Shop.B monitor"}, id.SignatureParts)
	assert.Equal(t, answer.SignatureStrong, id.SignatureStrength)
	list[0].Count = 2
	id = Finding(answer.FindingStarved, list, nil)
	assert.Equal(t, "Shop.A monitor", id.SignatureParts[1], "of equal ones the first by name")
	assert.Equal(t, answer.SignatureWeak, id.SignatureStrength)
	assert.Equal(t, answer.SignatureWeak, Finding(answer.FindingStarved, sites("System.Threading.Thread.Sleep()"), nil).SignatureStrength, "a method of the class library")
	assert.Zero(t, Finding(answer.FindingStarved, nil, nil))
}

// TestOutOfMemory checks that the largest holder identifies a heap that could not grow.
func TestOutOfMemory(t *testing.T) {
	none := OutOfMemory(answer.Identity{})
	assert.Equal(t, answer.SignatureWeak, none.SignatureStrength)
	x := &answer.Suspect{Kind: answer.SuspectObject, Point: &answer.PathObject{Type: answer.Text{S: "Shop.Cache"}},
		Path: &answer.RootPath{Root: answer.GCRoot{Kind: "static variable", Name: "static Shop.P.s_cache"}}}
	holder, _ := Suspect(x)
	assert.Equal(t, answer.SignatureStrong, holder.SignatureStrength)
	id := OutOfMemory(holder)
	assert.Equal(t, []string{"out of memory", "object", "Shop.Cache", "static Shop.P.s_cache"}, id.SignatureParts)
	assert.Equal(t, answer.SignatureStrong, id.SignatureStrength)
	assert.NotEqual(t, none.Signature, id.Signature)
	assert.NotEqual(t, holder.Signature, id.Signature)
	x.Path.Root.Name = "static System.Net.Sockets.SocketAsyncEngine.s_registeredContexts"
	holder, _ = Suspect(x)
	assert.Equal(t, answer.SignatureWeak, holder.SignatureStrength, "a field of the class library")
}

// TestFailed checks that failures are identified by site and exception types in any order, weakly if a type is
// unreadable or only wraps others.
func TestFailed(t *testing.T) {
	failed := func(where string, types ...string) answer.Site {
		var list []answer.TaskException
		for _, x := range types {
			e := answer.TaskException{Type: answer.Text{S: x}}
			if x == "" {
				e.Type.Err = errors.New("not in the dump")
			}
			list = append(list, e)
		}
		return answer.FailedSite(answer.Text{S: where}, list)
	}
	of := func(s ...answer.Site) answer.Identity { return Finding(answer.FindingTasks, s, nil) }
	one := of(failed("Shop.Orders+<Load>d__5.MoveNext()", "System.TimeoutException", "Shop.Fault`1[[System.Int32, System.Private.CoreLib]]"))
	assert.Equal(t, []string{"failed tasks", "Shop.Orders.Load Shop.Fault, System.TimeoutException"}, one.SignatureParts)
	assert.Equal(t, answer.SignatureStrong, one.SignatureStrength)
	assert.Equal(t, one, of(failed("Shop.Orders+<Load>d__7.MoveNext()", "Shop.Fault<System.Int32>", "System.TimeoutException")))
	assert.NotEqual(t, one.Signature, of(failed("Shop.Orders+<Load>d__5.MoveNext()", "System.TimeoutException")).Signature)
	for _, weak := range []answer.Site{failed("Shop.A", ""), failed("Shop.A"), failed("Shop.A", "System.AggregateException"), failed("System.Net.Http.A", "E")} {
		assert.Equal(t, answer.SignatureWeak, of(weak).SignatureStrength, weak)
	}
	assert.Equal(t, answer.SignatureWeak, of(failed("Shop.A", "E"), answer.Site{Count: 2}).SignatureStrength, "most are not listed")
	assert.Zero(t, of(answer.Site{Count: 2}))
}

// TestSiteRules checks that rules also apply to the methods of findings, and that table rows restore the sites.
func TestSiteRules(t *testing.T) {
	rules, err := ParseRules("strip Acme.V2.\nskip Acme.V2.Log\nlibrary Acme.V2.Core.\n")
	require.NoError(t, err)
	sign := func(name string) answer.Identity { return Finding(answer.FindingStarved, sites(name), rules) }
	assert.Equal(t, []string{"starved thread pool", "Shop.A monitor"}, sign("Acme.V2.Shop.A()").SignatureParts)
	assert.Equal(t, answer.SignatureStrong, sign("Acme.V2.Shop.A()").SignatureStrength)
	assert.NotEmpty(t, sign("Acme.V2.Shop.A()").SignatureRules)
	assert.Equal(t, []string{"starved thread pool", "monitor"}, sign("Acme.V2.Log.Write()").SignatureParts)
	assert.Equal(t, answer.SignatureWeak, sign("Acme.V2.Log.Write()").SignatureStrength)
	assert.Equal(t, answer.SignatureWeak, sign("Acme.V2.Core.Run()").SignatureStrength)

	list := append(sites("Shop.A()"), answer.Site{Method: answer.Text{Err: errors.New("no module file")}, Does: "event", Count: 3},
		answer.FailedSite(answer.Text{S: "Shop.B"}, []answer.TaskException{{Type: answer.Text{S: "E"}}, {}}))
	var back []answer.Site
	for _, r := range SiteRows(list) {
		back = append(back, r.Site())
	}
	for _, kind := range []answer.FindingKind{answer.FindingTasks, answer.FindingDeadlock} {
		assert.Equal(t, Finding(kind, list, rules), Finding(kind, back, rules))
	}
}
