//go:build !windows

package diagport

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
)

// maxAddress is the longest path of a Unix socket in bytes on all systems (sun_path of macOS), without its NUL.
const maxAddress = 103

// Dial connects to the socket of a process. pid is its process id as this process sees it, uid its user. It refuses
// anything but a socket of that user, and a listener that is another process, as far as the system reports it.
func Dial(ctx context.Context, socket string, pid int, uid uint32) (io.ReadWriteCloser, error) {
	st, err := os.Lstat(socket)
	if err != nil {
		return nil, err
	}
	if st.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("%s is not a socket", socket)
	}
	if owner, ok := ownerOf(st); ok && owner != uid {
		return nil, fmt.Errorf("the socket %s belongs to user %d, the process to user %d", socket, owner, uid)
	}
	address, release, err := shortened(socket)
	if err != nil {
		return nil, err
	}
	defer release()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", address)
	if err != nil {
		return nil, err
	}
	if err := checkPeer(conn.(*net.UnixConn), pid, uid); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("%s: %w", socket, err)
	}
	return conn, nil
}

// shortened returns an address for a path that may be too long for one.
func shortened(socket string) (address string, release func(), err error) {
	if len(socket) <= maxAddress {
		return socket, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(socket)), func() { _ = dir.Close() }, nil
}
