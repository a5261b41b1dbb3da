//go:build !linux || (!amd64 && !arm64)

package http3

import "net"

// openSocket returns a UDP socket for QUIC connections. On this system it is not connected to the address, and
// quic-go sends packets one by one.
func openSocket(*net.UDPAddr) (net.PacketConn, error) { return net.ListenUDP("udp", nil) }
