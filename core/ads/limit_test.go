package ads

import (
	"fmt"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestLimitsOfAStream: a client that asks for ever more types or names is sent away,
// and the others are served.
func TestLimitsOfAStream(t *testing.T) {
	h := start(t, services(1))
	other := h.connect("client-0.shop", "s0")
	many := make([]string, maxNames/4)
	t.Run("types", func(t *testing.T) {
		c := h.delta("client-1.shop", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster})
		for i := range maxTypes {
			_ = c.stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: fmt.Sprint("type-", i)}) // the stream says why it ended
		}
		wantExhausted(t, c)
	})
	t.Run("names", func(t *testing.T) {
		c := h.delta("client-2.shop", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint})
		for round := range 5 {
			for i := range many {
				many[i] = fmt.Sprintf("outbound|80||%d.%d", round, i)
			}
			_ = c.stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: many}) // as above
		}
		wantExhausted(t, c)
	})
	h.put(slice("s0", "10.0.9.9"))
	other.expect("+" + cluster("s0"))
}

func wantExhausted(t *testing.T, c *deltaClient) {
	t.Helper()
	for {
		select {
		case <-c.got:
		case err := <-c.failed:
			if status.Code(err) != codes.ResourceExhausted {
				t.Errorf("got %v", err)
			}
			return
		case <-t.Context().Done():
			t.Fatal("the stream goes on")
		}
	}
}
