//go:build !linux || (!amd64 && !arm64)

package http3

import "net"

// openSocket returns a UDP socket for connections to an address.
func openSocket(*net.UDPAddr) (net.PacketConn, error) { return net.ListenUDP("udp", nil) }
