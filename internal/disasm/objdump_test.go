package disasm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/test/testcase"
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
			for in := range Decode(target.ArchAMD64, code, at) {
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
				if in.Kind == RefNone && !compares.MatchString(otherName) { // in a comparison's name there is a number
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
