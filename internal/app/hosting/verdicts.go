package hosting

import (
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
)

// verdicts draws the conclusions about a host, one of all.
func verdicts(h *answer.Host, all []answer.Host) []answer.Verdict {
	var out []answer.Verdict
	for i := range h.Services {
		if s := &h.Services[i]; s.State.S == answer.ServiceFailed {
			out = append(out, serviceFailed(h, s))
		}
	}
	switch h.State.S {
	case answer.HostStartFailed:
		v := startFailed(h)
		if slices.ContainsFunc(all, func(x answer.Host) bool { return x.State.S == answer.HostRunning && x.Application.S == h.Application.S }) {
			v.Severity, v.Statement = answer.SeverityWarning, v.Plus(words.OtherHostRuns.Of()) // the program has tried again
		}
		out = append(out, v)
	case answer.HostStarting:
		out = append(out, starts(h)...)
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

// starts says where a host stands that has not started: services that never let it go on are why a program does not listen.
func starts(h *answer.Host) []answer.Verdict {
	fact := words.TokenNotCanceled.Of(words.ShortObject(h.Address))
	if at := stand(h, "StartAsync", words.StartStandsAt, func(s *answer.HostedService) *answer.AsyncWork { return s.Starting }); len(at.waits) > 0 {
		v := answer.Conclude(answer.FindingStarting, words.HostStartWaits.Of(program(h), at.services()), answer.StrengthRecorded, append(at.facts, fact)...)
		v.Show, v.Sites = at.show, at.sites
		return []answer.Verdict{v}
	}
	if h.StartsOn == nil {
		return nil
	}
	v := answer.Conclude(answer.FindingStarting, words.HostStartsOn.Of(program(h), words.Thread(*h.StartsOn), words.Method(h.StartsIn)), answer.StrengthRecorded, fact)
	v.Show, v.Sites = []string{"host"}, []answer.Site{{Method: answer.Text{S: h.StartsIn}, Does: "StartAsync"}}
	if h.StartsOn.Index != nil {
		v.Show = append(v.Show, fmt.Sprintf("clrstack %d", *h.StartsOn.Index))
	}
	return []answer.Verdict{v}
}

// stops says what a host that is stopping waits for.
func stops(h *answer.Host) answer.Verdict {
	at := stand(h, "StopAsync", words.StopStandsAt, func(s *answer.HostedService) *answer.AsyncWork { return s.Stopping })
	waits := answer.Statement{}
	if len(at.waits) > 0 {
		waits = words.StopWaits.Of(at.services())
	}
	facts := append([]answer.Statement{words.TokenCanceled.Of(words.ShortObject(h.Address))}, at.facts...)
	v := answer.Conclude(answer.FindingStopping, words.HostStopping.Of(program(h), waits), answer.StrengthRecorded, facts...)
	v.Show, v.Sites = at.show, at.sites
	return v
}

// A standing is where a host stands that starts or stops: the services that it waits for.
type standing struct {
	waits, facts []answer.Statement
	sites        []answer.Site
	show         []string
}

func stand(h *answer.Host, method string, fact *words.Sentence, work func(*answer.HostedService) *answer.AsyncWork) standing {
	at := standing{show: []string{"host"}}
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
		at.waits = append(at.waits, words.ServiceWaits.Of(words.Type(s.Type.String()), wait))
		at.sites = append(at.sites, answer.Site{Method: s.Type, Does: method})
		at.facts = append(at.facts, fact.Of(words.ShortObject(s.Address)))
		at.show = append(at.show, fmt.Sprintf("dumpasync -address %x", uint64(w.Frames[0].Object)))
	}
	return at
}

func (s *standing) services() answer.Statement { return words.Join("; and of ", s.waits...) }

// program names the program of a host, if the host has a name.
func program(h *answer.Host) answer.Statement {
	if h.Application.S == "" {
		return answer.Statement{}
	}
	return words.OfProgram.Of(words.Text(h.Application.S))
}
