// The failures that the product can name. They know nothing of HTTP or exit codes: the front doors translate them.

/** The base of every failure that is the asker's business; anything else that is thrown is a fault of the program. */
export class Failure extends Error {
  override name = this.constructor.name
}

/** The asker is nobody, or the credentials are wrong. */
export class Unauthorized extends Failure {
  constructor(readonly text = '401 Unauthorized') {
    super(text)
  }
}

/** The asker is known and may not. `reason` follows the fixed text. */
export class Forbidden extends Failure {
  constructor(readonly reason?: string) {
    super(reason ? `403 Forbidden - ${reason}` : '403 Forbidden')
  }
}

/** A record is missing, or the asker may not know that it exists. `what` is its name in the API, such as `Project`. */
export class NotFound extends Failure {
  constructor(readonly what?: string) {
    super(what === undefined ? '404 Not found' : `404 ${what} Not Found`)
  }
}

/** The same for builds, their traces and artifacts, whose text has no name. */
export class NothingThere extends Failure {
  constructor() {
    super('404 Not Found')
  }
}

/** Values that a record cannot take: attribute -> texts. */
export class Invalid extends Failure {
  readonly errors: Record<string, string[]>

  constructor(attribute: string | Record<string, string[]>, text = 'is invalid') {
    const errors = typeof attribute === 'string' ? { [attribute]: [text] } : attribute
    super(
      Object.entries(errors)
        .map(([name, texts]) => `${name} ${texts.join(', ')}`)
        .join('; ')
    )
    this.errors = errors
  }
}

/** A value that another record has already. */
export class Taken extends Invalid {
  constructor(attribute: string) {
    super(attribute, 'has already been taken')
  }
}

/** Parameters that are missing or of a wrong kind, before any record is looked at. */
export class BadParameters extends Failure {
  constructor(
    /** Such as `title is missing`; several are joined with a comma. */
    readonly error: string,
    text?: string
  ) {
    super(text ?? `400 (Bad request) ${error}`)
  }

  static missing(attribute: string): BadParameters {
    return new BadParameters(`${attribute} is missing`, `400 (Bad request) "${attribute}" not given`)
  }
}

/** A request that makes no sense, with one text for the asker. */
export class BadRequest extends Failure {}

/** The user owns as many projects as allowed. */
export class ProjectLimit extends Failure {
  constructor(limit: number) {
    super(
      limit === 0
        ? 'Personal project creation is not allowed. Please contact your administrator with questions'
        : `Your project limit is ${limit} projects! Please contact your administrator to increase it`
    )
  }
}

/** A duplicate, or a record that has moved on. */
export class Conflict extends Failure {}

/** A conflict found while a user is changed, which the requirement answers with 404 ("Errors"). */
export class UpdateConflict extends Conflict {}

/** Somebody else does the same right now, and it is not to be done twice at once. */
export class AlreadyRunning extends Failure {}

/** Well-formed, and still not possible. */
export class Unprocessable extends Failure {}

/** The record's state does not allow the action. */
export class NotAllowed extends Failure {
  constructor(text = '405 Method Not Allowed') {
    super(text)
  }
}

/** The record already is as asked. */
export class NotModified extends Failure {}

/** More bytes than a limit allows. */
export class TooLarge extends Failure {
  constructor(text = '413 Request Entity Too Large') {
    super(text)
  }
}

/** Asked too often; `retryAfter` in seconds. */
export class TooManyRequests extends Failure {
  constructor(readonly retryAfter: number) {
    super('429 Too Many Requests')
  }
}

/** Something that the product needs is away and expected back; `retryAfter` in seconds. */
export class Unavailable extends Failure {
  constructor(
    text: string,
    readonly retryAfter = 2
  ) {
    super(text)
  }
}

/** A wrong setting or a machine that lacks something: one line for the sysadmin, with the remedy. */
export class Misconfigured extends Failure {}
