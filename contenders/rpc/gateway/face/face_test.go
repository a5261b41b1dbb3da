package face

import (
	"net"
	"testing"

	"github.com/tarebench/tare/apps/users/conformance"
)

func TestFace(t *testing.T) { conformance.Face(t, New()) }

// TestBackendTakesNoOtherConnection: in a study the gateway's backend listens on
// loopback, and closes every connection but the gateway's.
func TestBackendTakesNoOtherConnection(t *testing.T) {
	own, err := newDialListener()
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	stranger, err := net.Dial("tcp", own.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	conn, err := own.dialSelf(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	accepted, err := own.Accept()
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
