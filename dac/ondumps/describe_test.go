package ondumps_test

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestDescribeModules describes the modules of the types that the program printed. They must list these types,
// and the module and its assembly must refer to each other.
func TestDescribeModules(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			t.Skip("no CLR")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		seen := map[target.Addr]map[target.Addr]bool{}
		for _, fact := range d.Manifest.Types() {
			mt, err := rt.MethodTable(fact.Addr)
			if err != nil || mt.IsArray() {
				continue
			}
			if seen[mt.Module] == nil {
				seen[mt.Module] = describedTypes(t, rt, mt.Module)
			}
			if mt.Canonical == mt.Addr && !strings.Contains(fact.Name, "[") {
				assert.True(t, seen[mt.Module][mt.Addr], "%s is missing", fact.Name)
			}
		}
		if d.HasHeap() && len(d.Manifest.Types()) > 0 {
			assert.NotEmpty(t, seen)
		}
	})
}

func describedTypes(t *testing.T, rt *dac.Runtime, module target.Addr) map[target.Addr]bool {
	m, err := rt.DescribeModule(module, dac.ModuleOptions{Types: true})
	require.NoError(t, err)
	assert.Equal(t, module, m.Module.Module)
	assert.NotEmpty(t, m.Module.Name.String())
	assert.Len(t, m.Module.Maps, 7)
	types := map[target.Addr]bool{}
	for row, err := range m.Types {
		if err == nil {
			types[row.MethodTable] = true
		}
	}
	for row, err := range m.References {
		if err == nil {
			assert.EqualValues(t, 0x01, row.Token>>24, "references are TypeRefs")
		}
	}
	as, err := rt.DescribeAssembly(m.Module.Assembly)
	if err == nil {
		assert.Equal(t, module, as.Module)
		assert.Equal(t, path.Base(m.Module.Name.String()), path.Base(as.Name.String()))
	} else {
		assert.ErrorIs(t, err, target.ErrNotInDump)
	}
	return types
}

// TestDescribeWrong checks that an address of another structure is the caller's error.
func TestDescribeWrong(t *testing.T) {
	rt, err := testdump.Open(t, "net10-zoo").Runtime()
	require.NoError(t, err)
	object := rt.WellKnown().Object
	_, err = rt.DescribeModule(object+1, dac.ModuleOptions{})
	require.ErrorAs(t, err, new(*target.AddressError))
	_, err = rt.DescribeAssembly(object)
	require.ErrorAs(t, err, new(*target.AddressError))
	_, err = rt.DescribeDomains(object)
	require.ErrorAs(t, err, new(*target.AddressError))
	_, err = rt.AppDomainOf(0)
	require.Error(t, err)
}

// TestDescribeDomains checks that there are two domains, that each can be selected, and that the application
// domain has the assemblies of all modules.
func TestDescribeDomains(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			t.Skip("no CLR")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		mods, _ := rt.Modules()
		domains, err := rt.DescribeDomains()
		if err != nil {
			require.ErrorIs(t, err, target.ErrNotInDump)
			return
		}
		var kinds []answer.DomainKind
		for domain, err := range domains {
			if err != nil {
				require.ErrorIs(t, err, target.ErrNotInDump)
				continue
			}
			kinds = append(kinds, domain.Kind)
			if domain.Kind == answer.DomainApplication {
				assert.Len(t, domain.Assemblies, len(mods))
			}
			one, err := rt.DescribeDomains(domain.Address)
			require.NoError(t, err)
			for alone, err := range one {
				if err == nil {
					assert.Equal(t, domain.Address, alone.Address)
				}
			}
		}
		assert.Equal(t, []answer.DomainKind{answer.DomainSystem, answer.DomainApplication}, kinds)
		for _, o := range d.Manifest.Objects() {
			if of, err := rt.AppDomainOf(o.Addr); err == nil {
				assert.Equal(t, 1, of.ID)
				return
			}
		}
	})
}

// TestDescribeSignature checks that missing bytes and a wrong module are errors.
func TestDescribeSignature(t *testing.T) {
	rt, err := testdump.Open(t, "net10-zoo").Runtime()
	require.NoError(t, err)
	_, err = rt.DescribeSignature(0, 0)
	require.ErrorIs(t, err, target.ErrCorrupt)
	_, err = rt.DescribeTypeSignature(0, rt.WellKnown().Object)
	require.ErrorAs(t, err, new(*target.AddressError), "the module is none")
}

// TestWrongAddresses checks that the address of another structure is the caller's error, and ErrCorrupt where the dump
// has it.
func TestWrongAddresses(t *testing.T) {
	rt, err := testdump.Open(t, "net10-zoo").Runtime()
	require.NoError(t, err)
	core, err := rt.CoreLib()
	require.NoError(t, err)
	ask := map[string]func(target.Addr) error{
		"MethodTable":     func(a target.Addr) error { _, _, err := rt.MethodTableAt(a); return err },
		"Module":          func(a target.Addr) error { _, err := rt.Module(a); return err },
		"Assembly":        func(a target.Addr) error { _, err := rt.Assembly(a); return err },
		"LoaderAllocator": func(a target.Addr) error { _, err := rt.LoaderAllocator(a); return err },
		"EEClass":         func(a target.Addr) error { _, err := rt.MethodTableOfClass(a); return err },
		"FieldDesc":       func(a target.Addr) error { _, err := rt.FieldDesc(a); return err },
	}
	wrong := 0
	for name, ask := range ask {
		for _, a := range []target.Addr{1, rt.WellKnown().Object, core.Addr, core.Assembly} {
			err := ask(a)
			if err == nil || errors.Is(err, target.ErrNotInDump) {
				continue
			}
			wrong++
			assert.ErrorAs(t, err, new(*target.AddressError), "%s %v", name, a)
			assert.ErrorIs(t, err, target.ErrArgument, "%s %v", name, a)
			assert.NotErrorIs(t, err, target.ErrCorrupt, "%s %v", name, a)
			assert.ErrorIs(t, target.CorruptAddress(err), target.ErrCorrupt, "%s %v", name, a)
			assert.Equal(t, target.ErrCorrupt, target.ReportedKind(err), "%s %v", name, a)
		}
	}
	assert.Greater(t, wrong, 15)
}
