package signature

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

func sites(names ...string) (out []answer.Site) {
	for _, n := range names {
		out = append(out, answer.Site{Method: answer.Text{S: n}, Does: "monitor"})
	}
	return out
}

// TestCircle: a circle has one signature wherever it was entered, and however many threads do alike in turn.
func TestCircle(t *testing.T) {
	one := Finding(answer.FindingDeadlock, sites("Shop.B()+0x1", "Shop.A()", "Shop.C()"))
	assert.Equal(t, []string{"deadlock", "Shop.A monitor", "Shop.C monitor", "Shop.B monitor"}, one.SignatureParts)
	assert.Equal(t, answer.SignatureStrong, one.SignatureStrength)
	assert.Equal(t, FindingVersion, one.SignatureVersion)
	assert.Equal(t, one, Finding(answer.FindingCircle, sites("Shop.C()", "Shop.B()", "Shop.A()")))
	assert.NotEqual(t, one.Signature, Finding(answer.FindingDeadlock, sites("Shop.A()", "Shop.B()", "Shop.C()")).Signature, "in the other direction")
	assert.Equal(t, []string{"deadlock", "Shop.A monitor"}, Finding(answer.FindingDeadlock, sites("Shop.A()", "Shop.A()", "Shop.A()")).SignatureParts)
	assert.Equal(t, []string{"deadlock", "Shop.A monitor", "Shop.B monitor"}, Finding(answer.FindingDeadlock, sites("Shop.B()", "Shop.A()", "Shop.B()", "Shop.A()")).SignatureParts)
	unread := append(sites("Shop.A()"), answer.Site{Method: answer.Text{Err: errors.New("no module file")}, Does: "monitor"})
	assert.Equal(t, answer.SignatureWeak, Finding(answer.FindingDeadlock, unread).SignatureStrength)
}

// TestCrowd: what most wait at identifies a finding; it is weak if most wait elsewhere.
func TestCrowd(t *testing.T) {
	list := sites("Shop.A()", "Shop.B()", "Shop.B()")
	id := Finding(answer.FindingStarved, list)
	assert.Equal(t, []string{"starved thread pool", "Shop.B monitor"}, id.SignatureParts)
	assert.Equal(t, answer.SignatureStrong, id.SignatureStrength)
	list[0].Count = 2
	id = Finding(answer.FindingStarved, list)
	assert.Equal(t, "Shop.A monitor", id.SignatureParts[1], "of equal ones the first by name")
	assert.Equal(t, answer.SignatureWeak, id.SignatureStrength)
	assert.Equal(t, answer.SignatureWeak, Finding(answer.FindingStarved, sites("System.Threading.Thread.Sleep()")).SignatureStrength, "a method of the class library")
	assert.Zero(t, Finding(answer.FindingStarved, nil))
}

// TestOutOfMemory: a heap that could not grow is known by its largest holder.
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
