// Package proto contains the code of protoc-gen-go for users.proto, and converts its messages to
// the types of package users and back. It omits the rules for HTTP, which only gRPC-Gateway reads,
// so that it needs only the module protobuf. The code for services is in the contenders that use
// it.
package proto

//go:generate go run -C ../../../tools/protogen . -drop google/api/annotations.proto -package github.com/tarebench/tare/apps/users/proto ../../apps/users/proto
