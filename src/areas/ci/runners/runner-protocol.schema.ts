// The input of external runners. A stock runner sends more than this, and each version sends other attributes, so the
// rest is ignored.
import { Type } from '../../../lib/type.js'

const text = Type.Optional(Type.String({ maxLength: 1024 }))
/** In the body or in the query; newer runners also send it in a header. */
const token = text
const info = Type.Optional(Type.Unknown())

export const RunnerCall = Type.Object({ token, info })
export const JobCall = Type.Object({ token, info, last_update: text, system_id: text })
export const RegisterCall = Type.Object({
  token,
  info,
  description: Type.Optional(Type.String()),
  tag_list: Type.Optional(Type.Unknown()),
  run_untagged: Type.Optional(Type.Boolean()),
  locked: Type.Optional(Type.Boolean()),
  active: Type.Optional(Type.Boolean()),
  paused: Type.Optional(Type.Boolean()),
  maximum_timeout: Type.Optional(Type.Integer()),
  access_level: text
})

export const JobParams = Type.Object({ id: Type.Integer() })
export const JobReport = Type.Object({
  token,
  info,
  state: text,
  failure_reason: text,
  exit_code: Type.Optional(Type.Integer()),
  trace: Type.Optional(Type.String())
})
export const UploadQuery = Type.Object({ token, expire_in: text, artifact_type: text, artifact_format: text })
/** A project and a ref, for the trigger of the first protocol. */
export const TriggerRefParams = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 1024 }),
  ref: Type.String({ minLength: 1, maxLength: 255 })
})
/** The rule checks the variables, because their error has its own text. */
export const TriggerRefCall = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 255 }),
  variables: Type.Optional(Type.Record(Type.String(), Type.Unknown()))
})
/** A runner that says direct_download follows the answer 302. */
export const DownloadQuery = Type.Object({ token, direct_download: Type.Optional(Type.Boolean()) })
