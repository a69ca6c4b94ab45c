package triage

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// TestOnce: findings that differ in nothing but their objects are one, with their number. Other methods, another strength and unknown code make others.
func TestOnce(t *testing.T) {
	ring := func(method string, at target.Addr, strength answer.Strength) answer.Finding {
		says := words.AwaitRing.Of(words.MethodObject.Of(words.Method(method), words.Object(at)), words.MethodObject.Of(words.Method("Shop.Close"), words.Object(at+8)))
		return finding(answer.FindingDeadlock, answer.Verdict{Statement: says, Strength: strength, Sites: []answer.Site{{Method: answer.Text{S: method}, Does: "task"}}})
	}
	bare := ring("Shop.Other", 0x80, answer.StrengthProved)
	bare.Identity = answer.Identity{}
	list := once([]answer.Finding{
		ring("Shop.Run", 0x10, answer.StrengthProved), ring("Shop.Walk", 0x20, answer.StrengthProved), ring("Shop.Run", 0x30, answer.StrengthProved),
		ring("Shop.Run", 0x40, answer.StrengthLikely), ring("Shop.Run", 0x50, answer.StrengthProved), bare, bare,
	})
	require.Len(t, list, 5)
	assert.Equal(t, "Shop.Run 0000000000000010 awaits Shop.Close 0000000000000018, which awaits the first; 2 more are alike", list[0].Text)
	assert.Equal(t, 3, list[0].Count)
	for i := range list[1:] {
		assert.NotContains(t, list[i+1].Text, "alike")
	}
}
