package api_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/grpc/api"
)

// envStandalone is the environment variable with which the test binary runs the program.
const envStandalone = "TARE_TEST_STANDALONE"

func TestMain(m *testing.M) {
	if os.Getenv(envStandalone) != "" {
		rpc.Main(api.New())
	}
	os.Exit(m.Run())
}

// TestReflectionWithToken checks that reflection, which is a stream, requires the token
// of a standalone program as calls do.
func TestReflectionWithToken(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-addr", "127.0.0.1:0", "-token", "secret")
	cmd.Env = append(os.Environ(), envStandalone+"=1")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = cmd.Wait()
	}()
	serving, addr := regexp.MustCompile(`serving users at http://(\S+)`), ""
	for lines := bufio.NewScanner(out); addr == "" && lines.Scan(); {
		if found := serving.FindStringSubmatch(lines.Text()); found != nil {
			addr = found[1]
		}
	}
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for token, want := range map[string]codes.Code{"": codes.Unauthenticated, "Bearer wrong": codes.Unauthenticated, "Bearer secret": codes.OK} {
		call := ctx
		if token != "" {
			call = metadata.AppendToOutgoingContext(ctx, "authorization", token)
		}
		stream, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(call)
		if err == nil {
			// Send fails if the server has already rejected the stream; Recv returns the status.
			_ = stream.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}})
			_, err = stream.Recv()
		}
		if got := status.Code(err); got != want {
			t.Errorf("reflection with %q: %v, want %v", token, err, want)
		}
	}
}
