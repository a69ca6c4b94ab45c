package ondumps_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// A foreignLine is an instruction as objdump decodes it.
type foreignLine struct {
	size int
	text string
}

// objdump decodes code at an address.
func objdump(t *testing.T, program string, args []string, code []byte, at target.Addr) map[target.Addr]foreignLine {
	t.Helper()
	file := filepath.Join(t.TempDir(), "code")
	require.NoError(t, os.WriteFile(file, code, 0o600))
	args = append(args, "-D", "-b", "binary", "-w", "-z", fmt.Sprintf("--adjust-vma=%#x", uint64(at)), file)
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	require.NoError(t, err)
	lines := map[target.Addr]foreignLine{}
	for in := bufio.NewScanner(bytes.NewReader(out)); in.Scan(); {
		parts := strings.Split(in.Text(), "\t")
		if len(parts) < 3 {
			continue
		}
		a, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(parts[0]), ":"), 16, 64)
		if err != nil {
			continue
		}
		lines[target.Addr(a)] = foreignLine{len(strings.ReplaceAll(parts[1], " ", "")) / 2, strings.Join(parts[2:], " ")}
	}
	return lines
}

// aliases are the other names of conditions and of instructions in objdump.
var aliases = strings.NewReplacer("nbe", "a", "nb", "ae", "nle", "g", "nl", "ge", "nz", "ne", "z", "e")

// nameOf returns the name of an instruction as objdump has it.
func nameOf(text string) string {
	name, _, _ := strings.Cut(text, " ")
	for _, conditional := range []string{"cmov", "set", "j"} {
		if condition, ok := strings.CutPrefix(name, conditional); ok && name != "jmp" {
			return conditional + aliases.Replace(condition)
		}
	}
	return name
}

// compares matches comparisons of vectors, which objdump names by their last operand.
var compares = regexp.MustCompile(`^v?cmp(eq|lt|le|unord|neq|nlt|nle|ord)?(ps|pd|ss|sd)$`)

// sameName reports whether two names mean one instruction.
func sameName(name, other string) bool {
	x, y := compares.FindStringSubmatch(strings.TrimSuffix(name, "_xmm")), compares.FindStringSubmatch(other)
	switch {
	case x != nil && y != nil:
		return x[2] == y[2]
	case name == "data16" && other == "xchg", name == "mov" && other == "movabs", name == "movsq" && other == "movs", name == "movsd_xmm" && other == "movsd":
		return true
	}
	return name == other
}

// numbers matches the numbers of operands, with their signs.
var numbers = regexp.MustCompile(`[-+]?\b0x[0-9a-f]+\b`)

// numbersOf returns the numbers of an instruction, in order. A sign before a displacement counts; zeros and ones, which
// decoders write or leave out (shr eax, 1), do not.
func numbersOf(text string) []string {
	var out []string
	for _, n := range numbers.FindAllString(text, -1) {
		if n = strings.TrimPrefix(n, "+"); n != "0x0" && n != "0x1" {
			out = append(out, n)
		}
	}
	return out
}

// TestObjdump compares code of the core libraries of the corpus with another decoder: where instructions begin, what they
// are called, and the numbers in their operands.
func TestObjdump(t *testing.T) {
	program, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("there is no objdump: Debian's binutils has it")
	}
	seen := map[string]bool{} // module sets
	testcase.Corpus(t, func(c *testcase.Case) bool { return c.Modules != "" && c.Manifest.Arch == "x64" }, func(t *testing.T, c *testcase.Case) int {
		file := filepath.Join(c.Modules, "System.Private.CoreLib.dll")
		if _, err := os.Stat(file); err != nil || seen[c.Modules] {
			t.Skip("no core library, or that of another case")
		}
		seen[c.Modules] = true
		im, err := image.OpenFile(file)
		require.NoError(t, err)
		defer func() { require.NoError(t, im.Close()) }()
		checked := 0
		for at, code := range functions(t, im) {
			theirs := objdump(t, program, []string{"-m", "i386:x86-64", "-M", "intel"}, code, at)
			for in := range disasm.Decode(target.ArchAMD64, code, at) {
				other, ok := theirs[in.Addr]
				if !ok || !assert.NotEmpty(t, in.Text, other.text) {
					continue // a prefix that objdump lists alone
				}
				_, name, hasPrefix := strings.Cut(other.text, "rex")
				if hasPrefix { // a prefix without an effect
					_, other.text, _ = strings.Cut(name, " ")
				}
				checked++
				otherName, _, _ := strings.Cut(other.text, " ")
				assert.Equal(t, other.size, len(in.Bytes), "%s: %s", in.Text, other.text)
				assert.True(t, sameName(nameOf(in.Text), otherName), "%s: %s", in.Text, other.text)
				if in.Kind == disasm.RefNone && !compares.MatchString(otherName) { // in a comparison's name there is a number
					assert.Equal(t, numbersOf(other.text), numbersOf(in.Text), "%s: %s", in.Text, other.text)
				}
			}
		}
		t.Logf("%d instructions", checked)
		return checked
	})
}

// functions returns a sample of the functions of an image of x64, by address.
func functions(t *testing.T, im *image.Image) map[target.Addr][]byte {
	t.Helper()
	const entry, sample, most = 12, 300, 1 << 16 // sizeof(RUNTIME_FUNCTION), functions, bytes of one
	table := im.ExceptionDirectory()
	b, err := im.BytesRVA(table.RVA, int(table.Size))
	require.NoError(t, err)
	out := map[target.Addr][]byte{}
	step := max(1, len(b)/entry/sample) * entry
	for ; len(b) >= max(step, 2*entry); b = b[step:] {
		begin, end := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[entry:]) // the next one begins at the end of this
		if end <= begin || end-begin > most {
			continue
		}
		code, err := im.BytesRVA(image.RVA(begin), int(end-begin))
		require.NoError(t, err)
		out[target.Addr(begin)] = code
	}
	return out
}

// objdumpARM64 is Debian's objdump for ARM64, of the package binutils-aarch64-linux-gnu.
const objdumpARM64 = "aarch64-linux-gnu-objdump"

var (
	// asides match what objdump adds to an instruction: comments and names of places.
	asides = regexp.MustCompile(`\s*(//.*|<[^>]*>|;.*)`)
	// unnamed matches a register of the processor by its numbers. Those that only a kernel may use have no name here.
	unnamed = regexp.MustCompile(`\bs[0-3]_[0-7]_c\d+_c\d+_[0-7]\b`)
	// never matches the condition "never", which is executed as "always".
	never = regexp.MustCompile(`\bnv\b`)
)

// plainARM64 returns an instruction with one blank between its parts.
func plainARM64(text string) string {
	text = strings.ReplaceAll(asides.ReplaceAllString(text, ""), ", ", ",")
	return strings.Join(strings.Fields(text), " ")
}

// compareARM64 compares each instruction of code with objdump's, and returns how many are known here.
func compareARM64(t *testing.T, code []byte, at target.Addr) (known int) {
	t.Helper()
	theirs := objdump(t, objdumpARM64, []string{"-m", "aarch64"}, code, at)
	for in := range disasm.Decode(target.ArchARM64, code, at) {
		ours, other := plainARM64(in.Text), plainARM64(theirs[in.Addr].text)
		if strings.HasPrefix(ours, ".inst") || strings.HasPrefix(other, ".inst") || unnamed.MatchString(ours) {
			continue // of a processor that one of them does not know
		}
		known++
		assert.Equal(t, never.ReplaceAllString(other, "al"), ours, "% x", in.Bytes)
	}
	return known
}

// TestObjdumpARM64 compares code that .NET compiled for ARM64 with another decoder: each text is the same, and no
// instruction is unknown.
func TestObjdumpARM64(t *testing.T) {
	if _, err := exec.LookPath(objdumpARM64); err != nil {
		t.Skip("there is no objdump for ARM64: Debian's binutils-aarch64-linux-gnu has it")
	}
	testdump.CorpusRuntimes(t, func(t *testing.T, d *testdump.Dump) int {
		if d.Target().Platform().Arch != target.ArchARM64 {
			t.Skip("not of ARM64")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		all, checked := []byte(nil), 0
		for info, err := range dac.CodeOf(rt).JITCode() {
			require.NoError(t, err)
			code, err := dac.CodeOf(rt).Code(info)
			if err != nil {
				continue
			}
			all = append(all, code...)
		}
		checked = compareARM64(t, all, 0x10000)
		assert.Equal(t, len(all)/4, checked)
		return checked
	})
}

// TestObjdumpWordsARM64 compares instructions of all kinds with another decoder: each that is known here has the same text.
func TestObjdumpWordsARM64(t *testing.T) {
	if _, err := exec.LookPath(objdumpARM64); err != nil {
		t.Skip("there is no objdump for ARM64: Debian's binutils-aarch64-linux-gnu has it")
	}
	random := rand.New(rand.NewPCG(48, 64))
	var code []byte
	for range 100_000 {
		code = binary.LittleEndian.AppendUint32(code, random.Uint32())
	}
	for _, form := range [][2]uint32{ // the bits of an instruction, and those that vary
		{0x330003e0, 0x80fffc1f}, {0x1e202008, 0x00d003f0}, {0x1e202000, 0x00df03ff}, {0xd53b0000, 0x0000ffff}, {0xd51b4200, 0x000000ff}, {0xd503201f, 0x00000fe0}, // bfc, fcmp, mrs, msr, hint
		{0x38200000, 0xc0fff3ff}, {0x0e809400, 0x603f03ff}, {0x0f80e000, 0x603f0bff}, // ldadd, sdot
		{0x2e008400, 0x40df0bff}, {0x2f00d000, 0x40ff2bff}, {0x7e008400, 0x00df0bff}, {0x7f00d000, 0x00ff2bff}, // sqrdmlah
	} {
		for range 2_000 {
			code = binary.LittleEndian.AppendUint32(code, form[0]|random.Uint32()&form[1])
		}
	}
	known := compareARM64(t, code, 0x10000)
	assert.Greater(t, known, 40_000)
	t.Logf("%d instructions", known)
}
