import { Flag, IdOf, Integer, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const LEAST_INTERVAL = 5
const MOST_INTERVAL = 10_080

export const MirrorParams = Type.Object({ ...projectParam, mirror_id: IdOf('the mirror') })
export const MirrorListQuery = Type.Object(Paging)

const common = {
  username: Type.Optional(Text('the user for HTTP; an empty one removes it', { maxLength: 255 })),
  password: Type.Optional(
    Text('the password or token for HTTP, which is never shown again; an empty one removes it', { maxLength: 1000 })
  ),
  ssh_host_key: Type.Optional(
    Text('the fingerprint of the host key of an SSH server, which you have compared: `SHA256:...`', { maxLength: 64 })
  ),
  branch_patterns: Type.Optional(
    Type.Array(Text('the name of a branch, with at most one `*`', { maxLength: 255 }), {
      maxItems: 20,
      description:
        'the branches that it handles; none means all branches and all tags. Names that begin with `refs/tags/` are tags'
    })
  ),
  overwrite_diverged: Type.Optional(
    Flag('whether commits that only the target has are overwritten; default false: such branches stay and are reported')
  ),
  interval: Type.Optional(
    Integer('minutes between two runs of the schedule; 0 for none', { minimum: 0, maximum: MOST_INTERVAL })
  ),
  enabled: Type.Optional(Flag('whether it runs; default true'))
}
const url = Text('an http, https or ssh URL, or USER@HOST:PATH; it may contain the user and password for HTTP', {
  minLength: 1,
  maxLength: 3000
})
const description =
  'A change keeps the attributes that it does not name. The mirror runs in the name of the last user who changed it.'

const deletes = {
  delete_removed: Type.Optional(
    Flag('whether branches and tags that the project does not have are deleted at the remote; default false')
  )
}
export const NewPushMirror = Type.Object({ url, ...common, ...deletes }, { title: 'NewRemoteMirror', description })
export const PushMirrorChange = Type.Object(
  { url: Type.Optional(url), ...common, ...deletes },
  { title: 'RemoteMirrorChange', description }
)
export const PullMirrorBody = Type.Object(
  {
    url: Type.Optional(url),
    ...common,
    new_hook_token: Type.Optional(Flag('true makes a new token for the hook; the old one stops to work'))
  },
  { title: 'PullMirrorBody', description }
)

/** The attributes of a mirror that people choose. */
export type MirrorBody = Static<typeof PushMirrorChange> & Pick<Static<typeof PullMirrorBody>, 'new_hook_token'>

export const HookQuery = Type.Object({
  token: Type.Optional(Text('the token of the hook, for callers that can set no header', { maxLength: 255 }))
})
