package dap

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/sosgo/sosgo/internal/front/serving"
)

// tokenTime is how long a client takes to show the token. Only tests change it.
var tokenTime = 30 * time.Second

// Listen serves the clients that connect to l and show o's token, until ctx ends. It closes l. note, if not nil,
// receives the errors of clients.
func Listen(ctx context.Context, l net.Listener, host Host, o Options, note func(text string)) error {
	l = serving.Limit(l, serving.Strangers)
	defer context.AfterFunc(ctx, func() { _ = l.Close() })() // makes Accept fail
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		clients.Go(func() {
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			defer conn.Close()
			own := o
			own.Known = func() {
				serving.Trust(conn)
				_ = conn.SetReadDeadline(time.Time{}) // it fails if the client is gone
			}
			_ = conn.SetReadDeadline(time.Now().Add(tokenTime))
			err := Serve(ctx, conn, conn, host, own)
			quiet := err == nil || ctx.Err() != nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed)
			if note != nil && !quiet {
				note("a client: " + err.Error())
			}
		})
	}
}
