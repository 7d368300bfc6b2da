// The failures that the product can name. They know nothing about HTTP or exit codes; server and CLI translate them.

/** The base of all failures that concern the caller. Any other error is a fault of the program. */
export class Failure extends Error {
  override name = this.constructor.name
}

/** The caller has no credentials, or wrong ones. */
export class Unauthorized extends Failure {
  constructor(readonly text = '401 Unauthorized') {
    super(text)
  }
}

/** An OAuth token that has expired or was revoked. The text says which. */
export class InvalidToken extends Unauthorized {}

/** A right password of an account whose sign-in asks for a second factor, where nothing can ask for it. The text is that of the requirement. */
export class SecondFactorNeeded extends Unauthorized {
  constructor() {
    super('401 Unauthorized. You have 2FA enabled. Please use a personal access token to access the API')
  }
}

/** A request of OAuth that is refused. `error` is the code of RFC 6749 for the reason. */
export class OAuthRefusal extends Failure {
  constructor(
    readonly error: string,
    text: string
  ) {
    super(text)
  }
}

/** An OAuth token has none of the scopes that the request needs. */
export class InsufficientScope extends Failure {
  constructor(readonly scopes: readonly string[]) {
    super(`The token lacks the scope that this request needs: ${scopes.join(' or ')}`)
  }
}

/** The caller is known but may not do this. `reason` follows the fixed text. */
export class Forbidden extends Failure {
  constructor(readonly reason?: string) {
    super(reason ? `403 Forbidden - ${reason}` : '403 Forbidden')
  }
}

/** The days in which the user could set up a second factor are over. The session opens only the pages for it. */
export class SecondFactorDue extends Forbidden {
  constructor() {
    super('Set up a second factor first, at /profile/two_factor')
  }
}

/** A record is missing, or the caller may not know that it exists. `what` is its name in the API, such as `Project`. */
export class NotFound extends Failure {
  constructor(readonly what?: string) {
    super(what === undefined ? '404 Not found' : `404 ${what} Not Found`)
  }
}

/** The same failure with the text that the requirement has for this record. */
export class NotFoundAs extends NotFound {
  constructor(text: string) {
    super()
    this.message = text
  }
}

/** The same failure for a command, which repeats the name or number that the person entered. */
export class NoSuch extends NotFound {
  constructor(kind: string, name: string | number) {
    super(kind)
    this.message =
      typeof name === 'number' ? `no ${kind} has the number ${name}` : `no ${kind} is called ${JSON.stringify(name)}`
  }
}

/** The same failure for builds, their traces and artifacts. Its text names no record. */
export class NothingThere extends Failure {
  constructor() {
    super('404 Not Found')
  }
}

/** Values that a record cannot have: maps each attribute to its texts. */
export class Invalid extends Failure {
  readonly errors: Record<string, string[]>

  constructor(attribute: string | Record<string, string[]>, text = 'is invalid') {
    const errors = typeof attribute === 'string' ? { [attribute]: [text] } : attribute
    super(
      Object.entries(errors)
        // Texts of `base` are whole sentences, about no attribute.
        .map(([name, texts]) => `${name === 'base' ? '' : `${name} `}${texts.join(', ')}`)
        .join('; ')
    )
    this.errors = errors
  }
}

const TAKEN = 'has already been taken'

/** A value that another record already has, of one attribute or of several. */
export class Taken extends Invalid {
  constructor(...attributes: string[]) {
    super(Object.fromEntries(attributes.map(name => [name, [TAKEN]])))
  }
}

/** Parameters that are missing or have a wrong type. They are checked before any record is read. */
export class BadParameters extends Failure {
  constructor(
    /** For example `title is missing`; several texts are joined with a comma. */
    readonly error: string,
    text?: string
  ) {
    super(text ?? `400 (Bad request) ${error}`)
  }

  static missing(attribute: string): BadParameters {
    return new BadParameters(`${attribute} is missing`, `400 (Bad request) "${attribute}" not given`)
  }
}

/** A request that makes no sense, with one text for the caller. */
export class BadRequest extends Failure {}

/** A refused request with one text, which the requirement puts under the key `error` of the message. */
export class RefusedText extends Failure {}

/** The user already owns as many projects as allowed. */
export class ProjectLimit extends Failure {
  constructor(limit: number) {
    super(
      limit === 0
        ? 'Personal project creation is not allowed. Please contact your administrator with questions'
        : `Your project limit is ${limit} projects! Please contact your administrator to increase it`
    )
  }
}

/** A duplicate, or a record that has changed in the meantime. */
export class Conflict extends Failure {}

/** Somebody has changed the record since the caller read it. */
export class Stale extends Conflict {
  constructor() {
    super('It was changed since you opened it')
  }
}

/** A conflict with texts by attribute, like Invalid. */
export class ConflictingValues extends Conflict {
  constructor(readonly errors: Record<string, string[]>) {
    super(new Invalid(errors).message)
  }
}

/** A conflict during the update of a user. The requirement answers it with 404 ("Errors"). */
export class UpdateConflict extends Conflict {}

/** A conflict with several texts that belong to no attribute. */
export class Conflicts extends Conflict {
  constructor(readonly texts: readonly string[]) {
    super(texts.join(', '))
  }
}

/** The same work is already running, and must not run twice at the same time. */
export class AlreadyRunning extends Failure {}

/** The request is well-formed but not possible. */
export class Unprocessable extends Failure {}

/** The same failure with a list of texts, as the requirement has it for merge requests. */
export class UnprocessableList extends Unprocessable {
  constructor(readonly texts: readonly string[]) {
    super(texts.join(', '))
  }
}

/** The record is past the state in which the action is possible. `why` is for commands: the text of the API is fixed. */
export class NotAcceptable extends Failure {
  constructor(
    text?: string,
    readonly why?: string
  ) {
    super(text)
  }
}

/** The record's state does not allow the action. `why` is for commands: the text of the API is fixed. */
export class NotAllowed extends Failure {
  constructor(
    text = '405 Method Not Allowed',
    readonly why?: string
  ) {
    super(text)
  }
}

/** The file is at another URL, which works for a short time and for anyone who has it. */
export class FoundElsewhere extends Failure {
  constructor(readonly url: string) {
    super('302 Found')
  }
}

/** The record already has the requested state. */
export class NotModified extends Failure {}

/** More bytes than a limit allows. */
export class TooLarge extends Failure {
  constructor(text = '413 Request Entity Too Large') {
    super(text)
  }
}

/** The file has none of the requested bytes. */
export class RangeNotSatisfiable extends Failure {
  constructor(
    /** Bytes of the whole file. */
    readonly size: number
  ) {
    super(`416 Range Not Satisfiable - the file has ${size} bytes`)
  }
}

/** A body of an unsupported type. */
export class UnreadableType extends Failure {
  static of(type = 'missing'): UnreadableType {
    return new UnreadableType(
      `415 Unsupported Media Type - the Content-Type of the body is ${type.slice(0, 100)}, but must be application/json, application/x-www-form-urlencoded or multipart/form-data`
    )
  }

  static compressed(encoding: string): UnreadableType {
    return new UnreadableType(
      `415 Unsupported Media Type - the Content-Encoding of the body is ${encoding.slice(0, 100)}, but a body must not be compressed`
    )
  }
}

/** The client has sent too many requests, or asked for too much at once; `retryAfter` is in seconds. `reason` follows the fixed text. */
export class TooManyRequests extends Failure {
  constructor(
    readonly retryAfter: number,
    reason?: string
  ) {
    super(reason ? `429 Too Many Requests - ${reason}` : '429 Too Many Requests')
  }
}

/** Something that the product needs is unavailable for now; `retryAfter` is in seconds. */
export class Unavailable extends Failure {
  constructor(
    text: string,
    readonly retryAfter = 2
  ) {
    super(text)
  }
}

/** The bucket of files is away or refuses. `state` is the name of the reason, and `remedy` says what a sysadmin does about it. */
export class BucketUnavailable extends Unavailable {
  constructor(
    readonly state: string,
    text: string,
    readonly remedy: string,
    retryAfter: number
  ) {
    super(text, retryAfter)
  }
}

/** The folder of a storage of repositories cannot be used. The message is for sysadmins. */
export class StorageAway extends Unavailable {
  constructor(storage: string, path: string, code: string) {
    super(
      `the storage ${storage} at ${path} cannot be used (${code}): is it mounted, and may this user write there?`,
      10
    )
  }
}

/** The files of a storage of repositories belong to another machine at the moment. */
export class NotHere extends Unavailable {
  constructor(
    readonly storage: string,
    machine: string | null = null
  ) {
    const where = machine === null ? 'another machine' : `machine ${machine}`
    super(`the repositories of the storage ${storage} are on ${where} (gitstead storages list)`, 1)
  }
}

/** The project has moved to another storage since the caller read its row. Nothing has been changed: the caller may begin again. */
export class Moved extends NotHere {
  override readonly message = 'the repository has just moved to another storage: try again'
}

/** The folder has no appliance, and the command creates none. */
export class NoHome extends Failure {
  constructor(home: string) {
    super(`there is no appliance in ${home}: gitstead up makes one, --home names another folder`)
  }
}

/** The disk of the appliance or of its database is full. The request was not carried out. */
export class DiskFull extends Failure {
  constructor() {
    super('the disk is full: nothing was changed; free some space, and try again')
  }
}

/** A wrong setting, or a machine that lacks something. The text is one line for the sysadmin, with the remedy. */
export class Misconfigured extends Failure {}

/** A stored value that is damaged, or was encrypted with another key than that of the home. */
export class Undecryptable extends Failure {
  constructor(what: string) {
    super(`${what} cannot be decrypted: it is damaged, or was encrypted with another key; delete it, or set it again`)
  }
}
