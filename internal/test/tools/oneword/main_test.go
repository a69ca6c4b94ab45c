package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// mostSilent is the maximum number of silent answers of 1,000 overwritten words. Lower it when fewer are silent.
const mostSilent = 8

// TestSilentAnswers overwrites a sample of the words that lines read, and counts answers that differ without a word.
func TestSilentAnswers(t *testing.T) {
	testcase.Canned(t, "net10-zoo")
	var total tally
	for _, j := range testcase.Sample(t, jobs(), 9) {
		got, err := j.attack(&settings{seed: 7, words: 6})
		require.NoError(t, err, j)
		total.add(&got)
	}
	t.Log(total.String())
	require.Greater(t, total.tried(), 80)
	require.Zero(t, total.counts[broken])
	for _, f := range total.found {
		t.Log(f)
	}
	require.LessOrEqual(t, total.counts[silent]+total.counts[assertive], total.tried()*mostSilent/1000)
}

// TestContradictions overwrites words that another word of the process contradicts.
func TestContradictions(t *testing.T) {
	testcase.Canned(t, "net10-zoo")
	for name, c := range map[string]struct {
		job  job
		word word
	}{
		"thread list":           {job{"net10-zoo", "clrthreads"}, word{addr: 0x557934717cb0, old: 0x5579347fb6e0, pointer: true}},
		"OS id of a thread":     {job{"net10-async", "clrthreads"}, word{addr: 0x5620efbf0428, old: 0x351b}},
		"no managed id":         {job{"net10-zoo", "triage"}, word{addr: 0x5579347fb680, old: 0x5, pointer: true}},
		"managed id":            {job{"net10-async", "clrthreads"}, word{addr: 0x5620efbf0310, old: 0x7ff600000003}},
		"state of a thread":     {job{"net10-async", "clrthreads"}, word{addr: 0x5620efbf0300, old: 0x21220}},
		"allocation context":    {job{"locks/net10-locks", "clrthreads"}, word{addr: 0x55c4c4e2e930, old: 0x7f1e34000e10, pointer: true}},
		"allocation limit":      {job{"net10-zoo", "clrthreads"}, word{addr: 0x7efba0000e20, old: 0x7efbcd82f0b0, pointer: true}},
		"length of a name":      {job{"net10-async", "locks"}, word{addr: 0x7fea664019a8, old: 0x4e002e0000000e}},
		"failed initializer":    {job{"net10-zoo", "triage"}, word{addr: 0x7f07a5dbb120, old: 0x2281}},
		"member of the GC":      {job{"locks/net10-locks", "waits"}, word{addr: 0x7f2ac1ac0460, old: 0xffffffff}},
		"no place in the GC":    {job{"net10-zoo", "verifyheap"}, word{addr: 0x7f08240c0458, old: 0x3800000000, pointer: true}},
		"begin in regions":      {job{"net10-zoo", "triage"}, word{addr: 0x7f08240c0460, old: 0xffffffff, pointer: true}},
		"header of code":        {job{"net10-zoo", "clrstack -all"}, word{addr: 0x7f07a5a99538, old: 0x7f07a5de3418, pointer: true}},
		"heap of a code range":  {job{"net10-async", "clrstack -all"}, word{addr: 0x5620efbede68, old: 0x5620efbf05f0, pointer: true}},
		"function of an image":  {job{"locks/net10-locks", "clrstack -all"}, word{addr: 0x7f2a4309b7b0, old: 0x245d6800245a10}},
		"token of a type":       {job{"net10-zoo", "dumpheap -stat"}, word{addr: 0x7f07a5b4f470, old: 0x400001800}},
		"arguments of a type":   {job{"net10-zoo", "dumpheap -stat"}, word{addr: 0x7f07a5dc9f20, old: 0x7f07a5dc9f40, pointer: true}},
		"size of a region":      {job{"net10-zoo", "eeheap -gc"}, word{addr: 0x7f08240c0458, old: 0x3800000000}},
		"mask of the regions":   {job{"net10-zoo", "dumpheap -stat"}, word{addr: 0x7f08240c0460, old: 0xffffffff}},
		"list of a crash":       {job{"net10-crash-nested", "pe"}, word{addr: 0x55791a24b980, old: 0x55791a1f7d98, pointer: true}},
		"header of a caller":    {job{"net10-zoo", "clrstack -all"}, word{addr: 0x7f07a5a91b78, old: 0x7f07a5b7d400, pointer: true}},
		"queue of the pool":     {job{"net10-async", "threadpool"}, word{addr: 0x7fea830002b8, old: 0x7fea85806e20, pointer: true}},
		"items of the pool":     {job{"net10-async", "threadpool"}, word{addr: 0x7fea85806e38, old: 0x7fea85806ef0, pointer: true}},
		"number of a slot":      {job{"net10-async", "threadpool"}, word{addr: 0x7fea858071a0, old: 0x18}},
		"static of the pool":    {job{"net10-async", "threadpool"}, word{addr: 0x7ff65fdb1e10, old: 0x7ff6600c2e90, pointer: true}},
		"slot of an assembly":   {job{"net10-crash-nested", "dumpdomain"}, word{addr: 0x55791a2262d8, old: 0x55791a290430, pointer: true}},
		"number of assemblies":  {job{"locks/net10-locks", "dumpdomain"}, word{addr: 0x55c4c4d65ca0, old: 0x7}},
		"path of a module":      {job{"net10-crash-nested", "dumpdomain"}, word{addr: 0x7f3bb2a340c8, old: 0x55791a247030, pointer: true}},
		"list of a heap":        {job{"net10-zoo", "eeheap -loader"}, word{addr: 0x55793478a8b0, old: 0x55793477e910, pointer: true}},
		"size of a block":       {job{"net10-crash-nested", "eeheap -loader"}, word{addr: 0x7f2fac008280, old: 0x10000}},
		"pointer to a heap":     {job{"net10-zoo", "eeheap -loader"}, word{addr: 0x7f08240cdb90, old: 0x7efba0007770, pointer: true}},
		"list of code heaps":    {job{"locks/net10-locks", "eeheap -loader"}, word{addr: 0x55c4c4d93608, old: 0x55c4c4d99530, pointer: true}},
		"arity of a type":       {job{"net10-zoo", "dumpheap -stat"}, word{addr: 0x7f07a5d99750, old: 0x2000200000000}},
		"token of an instance":  {job{"net10-zoo", "dumpheap -stat"}, word{addr: 0x7f07a5b2a0c8, old: 0x8001e000a5947}},
		"kind of an array":      {job{"net10-zoo", "gchandles"}, word{addr: 0x7f07a5dda6a8, old: 0x18800a0001}},
		"token of a method":     {job{"net10-zoo", "clrstack -all"}, word{addr: 0x7f07a5a80e90, old: 0x400330fc}},
		"unwind data":           {job{"locks/net10-locks", "clrstack -all"}, word{addr: 0x7f2a424bcc30, old: 0x66c83000005001}},
		"explicit frames":       {job{"locks/net10-locks", "clrstack -all"}, word{addr: 0x55c4c4d8db48, old: 0x7f2a33ffedf0, pointer: true}},
		"object of a thread":    {job{"locks/net10-locks", "clrthreads"}, word{addr: 0x7f2ac1c61138, old: 0x7f1e63818fa8, pointer: true}},
		"finalizer thread":      {job{"net10-async", "clrthreads"}, word{addr: 0x7ff6de4cfa78, old: 0x5620efbe7e90, pointer: true}},
		"entry of a sync block": {job{"locks/net10-locks", "syncblk"}, word{addr: 0x55c4c4d79ce0, old: 0x7f1e3c0025a8, pointer: true}},
		"begin of a code range": {job{"net10-async", "parallelstacks"}, word{addr: 0x5620efbede40, old: 0x7ff65fea0000, pointer: true}},
		"manager of code":       {job{"locks/net10-locks", "clrstack -all"}, word{addr: 0x7f2ac1add270, old: 0x55c4c4d67800, pointer: true}},
		"end of frames":         {job{"locks/net10-locks", "clrstack -all"}, word{addr: 0x7f1e157f9b70, old: 0x7f1e157f9dc0, pointer: true}},
		"order of functions":    {job{"net10-async", "clrstack -all"}, word{addr: 0x7ff65fa9b780, old: 0x24589500245880}},
		"base class":            {job{"net10-zoo", "dumpexceptions"}, word{addr: 0x7f07a5a8cd58, old: 0x7f07a5a80780, pointer: true}},
		"manager of stubs":      {job{"locks/net10-locks", "eeheap -loader"}, word{addr: 0x7f2ac1ace120, old: 0x55c4c4d66b20, pointer: true}},
		"heap of stubs":         {job{"net10-zoo", "eeheap -loader"}, word{addr: 0x557934747158, old: 0x55793471d2d0, pointer: true}},
		"callback of a timer":   {job{"net10-zoo", "timerinfo"}, word{addr: 0x7efbcd80c888, old: 0x7efbcd80c810, pointer: true}},
		"list of timers":        {job{"net10-async", "timerinfo"}, word{addr: 0x7fea85811520, old: 0x7fea858123e8, pointer: true}},
		"links of timers":       {job{"net10-async", "timerinfo"}, word{addr: 0x7fea8580ce20, old: 0x7fea858113d0, pointer: true}},
		"start of a timer":      {job{"net10-async", "timerinfo"}, word{addr: 0x7fea85812370, old: 0xf1767}},
		"callback of an item":   {job{"net10-async", "threadpool"}, word{addr: 0x7fea858128d8, old: 0x7fea858127d8, pointer: true}},
		"static of the class":   {job{"locks/net10-locks", "threadpool"}, word{addr: 0x7f1e61000c78, old: 0x7f1e63827350, pointer: true}},
		"limits of the pool":    {job{"locks/net10-locks", "threadpool"}, word{addr: 0x7f1e63827398, old: 0x7fff000200000000}},
		"holder of a monitor":   {job{"net10-zoo", "syncblk"}, word{addr: 0x7efb98002f90, old: 0x5}},
		"object of a monitor":   {job{"locks/net10-locks", "syncblk"}, word{addr: 0x55c4c4d79ce8, old: 0x7f1e63807940, pointer: true}},
		"kind of a wait":        {job{"locks/net10-locks", "waits"}, word{addr: 0x7f1e26ffc900, old: 0x64000000001}},
		"flags of a task":       {job{"locks/net10-locks", "tasks"}, word{addr: 0x7f1e638235a0, old: 0x2000c0000000000}},
		"continuation":          {job{"net10-async", "dumpasync"}, word{addr: 0x7fea85811fc0, old: 0x7fea85811f68, pointer: true}},
		"module of an assembly": {job{"net10-zoo", "dumpdomain"}, word{addr: 0x5579348074b0, old: 0x7f07a5f0e7b8, pointer: true}},
		"application domain":    {job{"net10-async", "clrthreads"}, word{addr: 0x7ff6de4cd950, old: 0x5620efbbff20, pointer: true}},
		"stack of a trace":      {job{"net10-crash-nested", "pe"}, word{addr: 0x7f2fd98080d8, old: 0x7f2fb95fec20, pointer: true}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := c.job.open()
			require.NoError(t, err)
			defer d.dump.Close()
			o, _, _ := d.overwrite(c.word)
			require.Contains(t, []outcome{failed, said}, o, outcomes[o])
		})
	}
}

// TestText has a word of a thread's name, which nothing repeats, and the number of its characters, which a zero behind them repeats.
func TestText(t *testing.T) {
	testcase.Canned(t, "net10-async")
	d, err := (&job{"net10-async", "threads"}).open()
	require.NoError(t, err)
	defer d.dump.Close()
	o, _, _ := d.overwrite(word{addr: 0x7fea664019b8, old: 0x6f005700200050})
	require.Equal(t, text, o, outcomes[o])
	o, _, _ = d.overwrite(word{addr: 0x7fea664019a8, old: 0x4e002e0000000e})
	require.Equal(t, said, o, outcomes[o])
}

// TestJudge has the outcomes of answers that differ.
func TestJudge(t *testing.T) {
	sound := answer{stdout: "a\nb\n"}
	for want, got := range map[outcome]answer{
		same: sound, failed: {stdout: "a\n", code: 4}, said: {stdout: "a\n<not in dump>\n"}, silent: {stdout: "a\n"},
		assertive: {stdout: "a\nit was so [proved]\n"}, broken: {code: 6},
	} {
		o, _, _ := judge(sound, got)
		require.Equal(t, want, o, outcomes[want])
	}
	o, _, _ := judge(sound, answer{stdout: "a\n", stderr: "1 part is missing"})
	require.Equal(t, said, o)
}

// TestStates has lines that state something new, and lines with some of the clauses of others.
func TestStates(t *testing.T) {
	const sound = "X was not caught: no; caused by Y: gone, in P.M() [proved]\n 1000 P.N()+0x5\n"
	require.False(t, states("X was not caught: no, in P.N() [proved]", sound))
	require.True(t, states("X was not caught: no, in P.O() [proved]", sound))
	require.True(t, states("Z was not caught: no [recorded]", sound))
	require.False(t, states("Z was not caught [likely]", sound))
	require.False(t, states("3. X was not caught: no [proved]", "2. "+sound))
}

// TestOverwritten has words before and after.
func TestOverwritten(t *testing.T) {
	require.Zero(t, word{addr: target.Addr(8), old: 0x7f0000001000, pointer: true}.overwritten())
	require.Equal(t, uint64(0x100000005), word{old: 0x10000000a}.overwritten())
	require.Equal(t, uint64(0x300000000), word{old: 0x600000000}.overwritten())
}
