package hosting

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
)

// verdicts draws the conclusions about a host.
func verdicts(h *answer.Host) []answer.Verdict {
	var out []answer.Verdict
	for i := range h.Services {
		if s := &h.Services[i]; s.State.S == answer.ServiceFailed {
			out = append(out, serviceFailed(h, s))
		}
	}
	switch h.State.S {
	case answer.HostStartFailed:
		out = append(out, startFailed(h))
	case answer.HostStarting:
		if v, ok := starts(h); ok {
			out = append(out, v)
		}
	case answer.HostStopping:
		out = append(out, stops(h))
	}
	return out
}

func serviceFailed(h *answer.Host, s *answer.HostedService) answer.Verdict {
	var exception, effect answer.Statement
	if len(s.Exceptions) > 0 {
		exception = words.Failure(&s.Exceptions[0])
	}
	switch {
	case h.OnException.S == "Ignore" && h.State.S == answer.HostRunning:
		effect = words.HostGoesOn.Of()
	case h.OnException.S == "StopHost" && h.State.S == answer.HostStopping:
		effect = words.HostStops.Of()
	}
	v := answer.Conclude(answer.FindingService, words.ServiceFailed.Of(words.Type(s.Type.String()), exception, effect), answer.StrengthRecorded, words.ExecuteFaulted.Of(words.ShortObject(s.Task)))
	v.Sites, v.Show = []answer.Site{answer.FailedSite(s.Type, s.Exceptions)}, []string{"host", fmt.Sprintf("taskstate %x", uint64(s.Task))}
	if len(s.Exceptions) > 0 {
		v.Show = append(v.Show, fmt.Sprintf("printexception %x", uint64(s.Exceptions[0].Object)))
	}
	return v
}

// startFailed concludes that a host did not start.
func startFailed(h *answer.Host) answer.Verdict {
	var exception answer.Statement
	if h.Failure != nil {
		exception = words.Failure(h.Failure)
	}
	v := answer.Conclude(answer.FindingService, words.HostNotStarted.Of(program(h), exception), answer.StrengthLikely, words.StartEnded.Of(words.ShortObject(h.Address)))
	v.Show = []string{"host"}
	if h.Failure != nil {
		v.Because(words.TraceOfStart.Of())
		v.Sites = []answer.Site{answer.FailedSite(answer.Text{S: "Host.StartAsync"}, []answer.TaskException{*h.Failure})}
		v.Show = append(v.Show, fmt.Sprintf("printexception %x", uint64(h.Failure.Object)))
	}
	return v
}

// starts says where a host stands that has not started: services that never let it go on are why a program does not listen. ok is false if that
// is not known.
func starts(h *answer.Host) (v answer.Verdict, ok bool) {
	v = answer.Conclude(answer.FindingStarting, answer.Statement{}, answer.StrengthRecorded, words.TokenNotCanceled.Of(words.ShortObject(h.Address)))
	v.Show = []string{"host"}
	waits := stand(h, &v, "StartAsync", words.StartStandsAt, func(s *answer.HostedService) *answer.AsyncWork { return s.Starting })
	switch {
	case len(waits) > 0:
		v.Statement = words.HostStartWaits.Of(program(h), words.Join("; and of ", waits...))
	case h.StartsOn != nil:
		v.Statement = words.HostStartsOn.Of(program(h), words.Thread(*h.StartsOn), words.Method(h.StartsIn))
		v.Sites = []answer.Site{{Method: answer.Text{S: h.StartsIn}, Does: "StartAsync"}}
		if h.StartsOn.Index != nil {
			v.Show = append(v.Show, fmt.Sprintf("clrstack %d", *h.StartsOn.Index))
		}
	default:
		return v, false
	}
	return v, true
}

// stops says what a host that is stopping waits for.
func stops(h *answer.Host) answer.Verdict {
	v := answer.Conclude(answer.FindingStopping, answer.Statement{}, answer.StrengthRecorded, words.TokenCanceled.Of(words.ShortObject(h.Address)))
	v.Show = []string{"host"}
	stops := answer.Statement{}
	if waits := stand(h, &v, "StopAsync", words.StopStandsAt, func(s *answer.HostedService) *answer.AsyncWork { return s.Stopping }); len(waits) > 0 {
		stops = words.StopWaits.Of(words.Join("; and of ", waits...))
	}
	v.Statement = words.HostStopping.Of(program(h), stops)
	return v
}

// stand returns the services that a host waits for, with what they wait for, and adds the facts to v.
func stand(h *answer.Host, v *answer.Verdict, method string, fact *words.Sentence, work func(*answer.HostedService) *answer.AsyncWork) []answer.Statement {
	var waits []answer.Statement
	for i := range h.Services {
		s := &h.Services[i]
		w := work(s)
		if w == nil {
			continue
		}
		wait := answer.Statement{}
		if !w.Why.IsZero() {
			wait = words.WhichWaitsFor.Of(w.Why)
		}
		waits = append(waits, words.ServiceWaits.Of(words.Type(s.Type.String()), wait))
		v.Sites = append(v.Sites, answer.Site{Method: s.Type, Does: method})
		v.Because(fact.Of(words.ShortObject(s.Address)))
		v.Show = append(v.Show, fmt.Sprintf("dumpasync -address %x", uint64(w.Frames[0].Object)))
	}
	return waits
}

// program names the program of a host, if the host has a name.
func program(h *answer.Host) answer.Statement {
	if h.Application.S == "" {
		return answer.Statement{}
	}
	return words.OfProgram.Of(words.Text(h.Application.S))
}
