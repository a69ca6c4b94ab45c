package diagport

import (
	"fmt"
	"net"
	"syscall"
)

// checkPeer compares the process that listens at the other end of a connection with the expected one. The kernel
// records it when the socket starts to listen.
func checkPeer(conn *net.UnixConn, pid int, uid uint32) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return err
	}
	switch {
	case failed != nil:
		return failed
	case peer.Pid != 0 && int(peer.Pid) != pid: // 0: the process is outside of this pid namespace
		return fmt.Errorf("process %d listens there, not process %d", peer.Pid, pid)
	case peer.Uid != uid:
		return fmt.Errorf("a process of user %d listens there, not of user %d", peer.Uid, uid)
	}
	return nil
}
