// The forges that can be read, by the name that `migrate add --kind` takes.
import type { Reader } from '../sources/source.js'

export const READERS: { readonly [kind: string]: () => Promise<Reader> } = {
  gitea: async () => (await import('../gitea/reader.js')).gitea,
  github: async () => (await import('../github/github.js')).github,
  gitlab3: async () => (await import('../gitlab/v3/reader.js')).gitlab3,
  gitlab4: async () => (await import('../gitlab/v4/reader.js')).gitlab4
}
