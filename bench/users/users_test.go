// Package users_test measures the cost of gRPC, Gin and gRPC-Gateway in front of the
// same business logic, with only the testing package:
//
//	cd bench/users && GOWORK=off go test -bench . -benchmem
//
// A published comparison ran these benchmarks, under these names, with a client
// and a server in one process, many concurrent callers, and users in memory. It
// found gRPC four times as fast as REST. It differs from these in three ways:
//
//   - Its HTTP clients closed bodies before they had read them, so that each
//     request needed a new connection.
//   - Its Gin had a middleware that wrote a log line for each request, besides the lines that
//     the handlers of each service and the business logic wrote.
//   - Its store compared every user with each new e-mail address.
//
// Here clients read responses to the end and keep connections open, there is no
// log, the store is indexed, and all three servers have the same middleware. The
// servers and clients are those of contenders/rpc, which tare measures.
// BenchmarkTrap repeats the differences, one by one, in lines with a dagger (†).
//
// Read the results with care. ns/op is the elapsed time per operation while
// GOMAXPROCS operations run concurrently, which is not the latency of one. Memory is
// that of client and server together. Contenders run one after another in one
// process, and the variation between runs of the same code is unknown; tare run
// users measures it.
package users_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
)

func BenchmarkGRPC_CreateUser(b *testing.B)    { createUser(b, grpcFace()) }
func BenchmarkGRPC_GetUser(b *testing.B)       { getUser(b, grpcFace()) }
func BenchmarkGRPC_UpdateUser(b *testing.B)    { updateUser(b, grpcFace()) }
func BenchmarkGRPC_DeleteUser(b *testing.B)    { deleteUser(b, grpcFace()) }
func BenchmarkGRPC_ListUsers(b *testing.B)     { listUsers(b, grpcFace()) }
func BenchmarkGRPC_MixedWorkload(b *testing.B) { mixedWorkload(b, grpcFace()) }

func BenchmarkGin_CreateUser(b *testing.B)    { createUser(b, ginFace()) }
func BenchmarkGin_GetUser(b *testing.B)       { getUser(b, ginFace()) }
func BenchmarkGin_UpdateUser(b *testing.B)    { updateUser(b, ginFace()) }
func BenchmarkGin_DeleteUser(b *testing.B)    { deleteUser(b, ginFace()) }
func BenchmarkGin_ListUsers(b *testing.B)     { listUsers(b, ginFace()) }
func BenchmarkGin_MixedWorkload(b *testing.B) { mixedWorkload(b, ginFace()) }

func BenchmarkGateway_CreateUser(b *testing.B)    { createUser(b, gatewayFace()) }
func BenchmarkGateway_GetUser(b *testing.B)       { getUser(b, gatewayFace()) }
func BenchmarkGateway_UpdateUser(b *testing.B)    { updateUser(b, gatewayFace()) }
func BenchmarkGateway_DeleteUser(b *testing.B)    { deleteUser(b, gatewayFace()) }
func BenchmarkGateway_ListUsers(b *testing.B)     { listUsers(b, gatewayFace()) }
func BenchmarkGateway_MixedWorkload(b *testing.B) { mixedWorkload(b, gatewayFace()) }

// seeded is the number of users at the beginning.
const seeded = 1000

func createUser(b *testing.B, f face) {
	measure(b, f, seeded, create)
}

func getUser(b *testing.B, f face) {
	measure(b, f, seeded, get)
}

func updateUser(b *testing.B, f face) {
	measure(b, f, seeded, update)
}

// deleteUser begins with b.N users, because each operation deletes one.
func deleteUser(b *testing.B, f face) {
	measure(b, f, b.N, func(ctx context.Context, c rpc.Client, n int64) error {
		return c.Delete(ctx, users.FirstID+n)
	})
}

func listUsers(b *testing.B, f face) {
	measure(b, f, seeded, list)
}

// mixedWorkload creates, gets, updates and lists in equal parts.
func mixedWorkload(b *testing.B, f face) {
	operations := []operation{create, get, update, list}
	measure(b, f, seeded, func(ctx context.Context, c rpc.Client, n int64) error {
		return operations[n%int64(len(operations))](ctx, c, n)
	})
}

// operation runs operation n of a benchmark, counted from 0.
type operation func(ctx context.Context, c rpc.Client, n int64) error

func create(ctx context.Context, c rpc.Client, n int64) error {
	_, err := c.Create(ctx, users.Draft{Name: "Somebody New", Email: fmt.Sprintf("n%09d@example.com", n)})
	return err
}

func get(ctx context.Context, c rpc.Client, n int64) error {
	id := users.FirstID + n%seeded
	u, err := c.Get(ctx, id)
	if err == nil && u.ID != id {
		err = fmt.Errorf("user %d, want %d", u.ID, id)
	}
	return err
}

func update(ctx context.Context, c rpc.Client, n int64) error {
	_, err := c.Update(ctx, users.FirstID+n%seeded, users.Draft{Name: "Somebody Else", Email: fmt.Sprintf("w%09d@example.com", n)})
	return err
}

func list(ctx context.Context, c rpc.Client, n int64) error {
	p, err := c.List(ctx, users.Query{Page: int(n%10) + 1})
	if err == nil && len(p.Users) != users.DefaultLimit {
		err = fmt.Errorf("%d users on a page", len(p.Users))
	}
	return err
}

// measure runs b.N operations on a store of n users, GOMAXPROCS at a time.
func measure(b *testing.B, f face, n int, do operation) {
	s := f.serve(b, n)
	c := s.dial(b, runtime.GOMAXPROCS(0))
	if _, err := c.List(b.Context(), users.Query{Limit: 1}); err != nil { // opens the connection before the timer starts
		b.Fatal(err)
	}
	var next atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := do(b.Context(), c, next.Add(1)-1); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
}
