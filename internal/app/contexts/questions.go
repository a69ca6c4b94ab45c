package contexts

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/process"
)

// LoadContexts lists the AssemblyLoadContexts with their assemblies, and what keeps unloading contexts alive.
func LoadContexts(ctx context.Context, p *process.Process) (*answer.LoadContexts, error) {
	return process.WithRuntime(ctx, p, func(ctx context.Context, c *process.Call, rt *dac.Runtime) (*answer.LoadContexts, error) {
		if err := rt.Check(dac.FeatureModules); err != nil {
			return nil, err
		}
		return list(ctx, c, rt)
	})
}
