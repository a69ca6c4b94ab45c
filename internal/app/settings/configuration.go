package settings

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Types of Microsoft.Extensions.Configuration.
type (
	// A configuration is one of the kinds of roots.
	configuration struct {
		_ objects.Shape `of:"Microsoft.Extensions.Configuration.ConfigurationRoot|Microsoft.Extensions.Configuration.ConfigurationManager"`
	}
	configurationRoot struct {
		_         objects.Shape    `of:"Microsoft.Extensions.Configuration.ConfigurationRoot"`
		Providers objects.RefField `field:"_providers"`
	}
	// A configurationManager is the root of a host that is built and changed at the same time (.NET 6 and later).
	configurationManager struct {
		_       objects.Shape    `of:"Microsoft.Extensions.Configuration.ConfigurationManager"`
		Manager objects.RefField `field:"_providerManager,optional"`
	}
	providerManager struct {
		_         objects.Shape    `of:"Microsoft.Extensions.Configuration.ReferenceCountedProviderManager"`
		Providers objects.RefField `field:"_refCountedProviders"`
	}
	countedProviders struct {
		_         objects.Shape    `of:"Microsoft.Extensions.Configuration.ReferenceCountedProviders+ActiveReferenceCountedProviders"`
		Providers objects.RefField `field:"_providers"`
	}
	configurationProvider struct {
		_    objects.Shape    `of:"Microsoft.Extensions.Configuration.ConfigurationProvider"`
		Data objects.RefField `field:"<Data>"`
	}
	fileProvider struct {
		_      objects.Shape    `of:"Microsoft.Extensions.Configuration.FileConfigurationProvider"`
		Source objects.RefField `field:"<Source>"`
	}
	fileSource struct {
		_    objects.Shape    `of:"Microsoft.Extensions.Configuration.FileConfigurationSource"`
		Path objects.RefField `field:"<Path>"`
	}
	// A chainedProvider has the keys of another configuration.
	chainedProvider struct {
		_      objects.Shape    `of:"Microsoft.Extensions.Configuration.ChainedConfigurationProvider"`
		Config objects.RefField `field:"_config"`
	}
)

// chainDepth bounds the depth of chained configurations.
const chainDepth = 8

// Configurations lists the configurations of the heap with their effective values. It notes unreadable parts in g. The
// error is ctx's.
func (r *Reader) Configurations(ctx context.Context, h *heap.Heap, o heap.ScanOptions, g *answer.Gaps) ([]answer.Configuration, error) {
	out := []answer.Configuration{}
	if g == nil {
		g = &answer.Gaps{}
	}
	in := shapes.Reading{Gaps: g, Binder: r.b}
	for root := range shapes.ReadObjects[*configuration](ctx, in, h, o) {
		m := merger{r: r, in: in, keys: map[string]int{}, out: answer.Configuration{Address: root.Addr, Type: in.TypeText(root), Providers: []string{}, Keys: []answer.ConfigurationKey{}}}
		m.root(root, 0)
		if len(m.out.Providers) == 0 {
			continue // disposed, or never built
		}
		slices.SortStableFunc(m.out.Keys, func(a, b answer.ConfigurationKey) int {
			return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		})
		out = append(out, m.out)
	}
	return out, ctx.Err()
}

// A merger merges the providers of one configuration.
type merger struct {
	r    *Reader
	in   shapes.Reading
	keys map[string]int // index in out.Keys, by lower-case name
	out  answer.Configuration
	full bool
}

// root adds the providers of a configuration.
func (m *merger) root(o objects.Object, depth int) {
	if depth > chainDepth {
		m.in.Note(target.CorruptHeapf("configuration %016x: more than %d chained ones", uint64(o.Addr), chainDepth))
		return
	}
	if s, x := shapes.BindAs[*configurationRoot](m.in, o); s != nil {
		m.providers(&s.Providers, x, depth)
		return
	}
	if s, x := shapes.BindAs[*configurationManager](m.in, o); s != nil {
		if p, at := shapes.BindAt[*providerManager](m.in, &s.Manager, x); p != nil {
			if c, cx := shapes.BindAt[*countedProviders](m.in, &p.Providers, at); c != nil {
				m.providers(&c.Providers, cx, depth)
			}
		}
	}
}

func (m *merger) providers(list *objects.RefField, x objects.Instance, depth int) {
	for p, err := range m.r.items.Objects(list, x) {
		if err != nil {
			m.in.Note(fmt.Errorf("providers of configuration %016x: %w", uint64(m.out.Address), err))
			continue
		}
		if c, cx := shapes.BindAs[*chainedProvider](m.in, p); c != nil {
			if inner := m.in.ObjectAt(&c.Config, cx); inner.Addr != 0 {
				m.root(inner, depth+1)
			}
			continue
		}
		name := m.name(p)
		m.out.Providers = append(m.out.Providers, name)
		if s, sx := shapes.BindAs[*configurationProvider](m.in, p); s != nil {
			m.data(&s.Data, sx, name)
		}
	}
}

// name names a provider by its type and, if it reads a file, the file.
func (m *merger) name(p objects.Object) string {
	name := m.in.TypeText(p).String()
	name = strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "ConfigurationProvider")
	if f, x := shapes.BindAs[*fileProvider](m.in, p); f != nil {
		if s, sx := shapes.BindAt[*fileSource](m.in, &f.Source, x); s != nil {
			name += " " + m.in.TextAt(&s.Path, sx).String()
		}
	}
	return name
}

// data adds the keys of a provider, which override keys of earlier providers.
func (m *merger) data(f *objects.RefField, x objects.Instance, provider string) {
	for i, err := range m.r.items.ItemsAt(f, x) {
		if err != nil {
			m.in.Note(fmt.Errorf("keys of provider %s: %w", provider, err))
			continue
		}
		k := answer.ConfigurationKey{NamedValue: m.r.pair(m.in.Gaps, i), Provider: provider}
		key := strings.ToLower(k.Name)
		if n, ok := m.keys[key]; ok {
			if k.Overridden = m.out.Keys[n].Overridden; m.out.Keys[n].Value.String() != k.Value.String() {
				k.Overridden++
			}
			m.out.Keys[n] = k
			continue
		}
		if len(m.out.Keys) >= limits.Settings {
			if !m.full {
				m.in.Note(target.CorruptHeapf("configuration %016x: more than %d keys", uint64(m.out.Address), limits.Settings))
			}
			m.full = true
			return
		}
		m.keys[key] = len(m.out.Keys)
		m.out.Keys = append(m.out.Keys, k)
	}
}
