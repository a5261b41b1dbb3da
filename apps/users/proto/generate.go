// Package proto is what protoc-gen-go makes of users.proto, and how its messages
// become the nouns of package users and back. The rules for HTTP, which only
// gRPC-Gateway reads, are left out of it, so that it needs nothing but the
// module protobuf. The code for services is in the contenders that use it.
package proto

//go:generate go run -C ../../../tools/protogen . -drop google/api/annotations.proto -package github.com/tarebench/tare/apps/users/proto ../../apps/users/proto
