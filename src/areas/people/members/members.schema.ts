import { groupParam, IdOf, Integer, Nullable, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const MemberListQuery = Type.Object({
  ...Paging,
  query: Type.Optional(Text('a text in the name or username, or the whole mail address', { maxLength: 255 }))
})
export type MemberListQuery = Static<typeof MemberListQuery>

const member = { user_id: IdOf('the user') }
export const ProjectMemberParams = Type.Object({ ...projectParam, ...member })
export const GroupMemberParams = Type.Object({ ...groupParam, ...member })

const LEVELS = 'Guest (10), Reporter (20), Developer (30), Master (40), and in groups Owner (50)'
const change = {
  access_level: Integer(LEVELS),
  expires_at: Type.Optional(
    Nullable(
      Text('the day (UTC) at the beginning of which it expires, such as 2027-01-31; empty for no expiry', {
        maxLength: 32
      })
    )
  )
}

export const MemberBody = Type.Object(
  { user_id: IdOf('the user who becomes a member'), ...change },
  { title: 'MemberBody', description: 'A new member.' }
)
export type MemberBody = Static<typeof MemberBody>

export const MemberChange = Type.Object(change, {
  title: 'MemberChange',
  description: 'The new attributes of a member.'
})
export type MemberChange = Static<typeof MemberChange>

export const ApprovalBody = Type.Object(
  { access_level: Type.Optional(Integer(`${LEVELS}; default 30`)) },
  { title: 'AccessRequestApproval', description: 'The level of the new member.' }
)
