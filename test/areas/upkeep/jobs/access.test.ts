import { testAccess } from '../../../access/matrix.js'
import { fillWithBuild } from '../../ci/builds/make-builds.js'
import { access as jobs } from './jobs.access.js'

testAccess([jobs], fillWithBuild)
