package api

import (
	"net"
	"testing"

	"github.com/tarebench/tare/apps/users/conformance"
)

func TestFace(t *testing.T) { conformance.Face(t, New()) }

// TestBackendTakesNoOtherConnection checks that the backend, which listens on loopback
// in a study, closes every connection except the gateway's.
func TestBackendTakesNoOtherConnection(t *testing.T) {
	listener, err := newDialListener()
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	stranger, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	conn, err := listener.dialSelf(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if accepted.RemoteAddr().String() != conn.LocalAddr().String() {
		t.Errorf("%v is accepted, and is not %v", accepted.RemoteAddr(), conn.LocalAddr())
	}
	if _, err := stranger.Read(make([]byte, 1)); err == nil {
		t.Error("another connection is open")
	}
}
