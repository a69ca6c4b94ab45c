package shapes

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Addresses of the network, as sockets and requests have them.
type (
	ipAddress struct {
		_       objects.Shape    `of:"System.Net.IPAddress"`
		Number  objects.IntField `field:"_addressOrScopeId"`
		Numbers objects.RefField `field:"_numbers"`
	}
	ipEnd struct {
		_       objects.Shape    `of:"System.Net.IPEndPoint"`
		Address objects.RefField `field:"_address"`
		Port    objects.IntField `field:"_port"`
	}
	dnsEnd struct {
		_    objects.Shape    `of:"System.Net.DnsEndPoint"`
		Host objects.RefField `field:"_host"`
		Port objects.IntField `field:"_port"`
	}
	unixEnd struct {
		_    objects.Shape    `of:"System.Net.Sockets.UnixDomainSocketEndPoint"`
		Path objects.RefField `field:"_path"`
	}
)

// EndPoint returns the text of an end point: an IP address or a host with its port, or the path of a Unix socket. It is "" if o names no peer: null, an
// address that is not set, no port, or another class. What is unreadable is noted.
func (r Reading) EndPoint(o objects.Object) string {
	if s, x := BindAs[*ipEnd](r, o); s != nil {
		ip, port := r.Address(r.ObjectAt(&s.Address, x)), r.IntAt(&s.Port, x)
		if !ip.IsValid() || ip.IsUnspecified() || port.Err() != nil || port.Value == 0 {
			return ""
		}
		return HostPort(ip.String(), port.Value)
	}
	if s, x := BindAs[*dnsEnd](r, o); s != nil {
		host, port := r.TextAt(&s.Host, x), r.IntAt(&s.Port, x)
		if host.Err != nil || host.S == "" || port.Err() != nil || port.Value == 0 {
			return ""
		}
		return HostPort(host.S, port.Value)
	}
	if s, x := BindAs[*unixEnd](r, o); s != nil {
		return r.TextAt(&s.Path, x).S
	}
	return ""
}

// HostPort joins a host and a port. An IPv6 address gets brackets.
func HostPort(host string, port int64) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return fmt.Sprintf("%s:%d", host, port)
}

// Address returns an IPAddress. It is not valid for null and an object of another type. What is unreadable is noted.
func (r Reading) Address(o objects.Object) netip.Addr {
	s, x := BindAs[*ipAddress](r, o)
	if s == nil {
		return netip.Addr{}
	}
	numbers, err := s.Numbers.Object(x)
	var out netip.Addr
	if err == nil && numbers.Addr == 0 {
		var n uint64
		n, err = s.Number.Uint(x)
		out = netip.AddrFrom4([4]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
	} else if err == nil {
		out, err = address6(numbers)
	}
	if err != nil {
		r.Note(err)
		return netip.Addr{}
	}
	return out
}

// address6 returns an IPv6 address of eight numbers.
func address6(o objects.Object) (netip.Addr, error) {
	a, err := o.Array()
	if err != nil {
		return netip.Addr{}, err
	}
	if a.Len != 8 {
		return netip.Addr{}, target.CorruptHeapf("an IPv6 address has %d numbers", a.Len)
	}
	var b [16]byte
	for i := range uint32(8) {
		n, err := a.At(i).Bits()
		if err != nil {
			return netip.Addr{}, err
		}
		b[2*i], b[2*i+1] = byte(n>>8), byte(n)
	}
	return netip.AddrFrom16(b).Unmap(), nil
}
