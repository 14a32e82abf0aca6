// Package replay answers "what would happen": it loads a scenario, a folder of
// manifests with further steps, applies the steps in order, and writes what the
// core holds and would send after each.
//
// A scenario has the folder input (input/clusters/ID for further clusters), and
// may have proxies.yaml, env.yaml and the folder steps. What is written has
// the layout of the golden cases: registryz.json, endpointShardz.json, per proxy
// eds.json, clusters.json and ext_authz.json, and per step push.json. Where the
// scenario has questions (question.yaml), answers.json says to each why the proxy
// has the endpoint or not.
package replay
