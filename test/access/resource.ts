// The form of the file RESOURCE.access.ts, in which a resource describes its routes for the matrix. The file is next to
// the tests of the resource.
import type { InjectOptions } from 'fastify'
import type { Statuses } from './actors.js'
import type { GroupStatuses, ProjectStatuses } from './expectations.js'
import type { Asking } from './world.js'

/** The parts of a request with which it succeeds for an actor who may make it. */
export interface Specimen {
  /** Parameters of the path, except those of the project or group, without their colons. */
  readonly params?: { readonly [name: string]: string | number }
  readonly query?: { readonly [name: string]: string | number }
  readonly payload?: NonNullable<InjectOptions['payload']>
  readonly headers?: { readonly [name: string]: string }
}

interface Access<Expected> {
  readonly expected: Expected
  /** Creates the records that the request names: separate ones for each actor if the request changes them. */
  readonly specimen?: (asking: Asking) => Promise<Specimen> | Specimen
}

/** Maps `METHOD /path`, as the route is registered, to the statuses for the actors. A HEAD is like its GET. */
export interface ResourceAccess {
  readonly instance?: { readonly [route: string]: Access<Statuses> }
  readonly project?: { readonly [route: string]: Access<ProjectStatuses> }
  readonly group?: { readonly [route: string]: Access<GroupStatuses> }
}
